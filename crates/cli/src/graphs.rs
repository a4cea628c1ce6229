//! `--graphs`: the cycles that are shown, each as a file for `dot`.

use std::path::Path;

use findings::{Finding, Results};

use crate::output;

/// Writes one file for each finding that is a cycle, into a directory that is made if it is not there. What other
/// runs left there stays.
pub(crate) fn write(results: &Results, directory: &Path) -> anyhow::Result<()> {
    output::make_directory(directory)?;
    for finding in results.findings.iter().flat_map(Finding::with_also) {
        if let Some(name) = report::graph_name(finding) {
            let write = |writer: &mut dyn std::io::Write| report::render_graph(finding, writer);
            output::write_file(&directory.join(name), write)?;
        }
    }
    Ok(())
}
