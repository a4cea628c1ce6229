package real;

import java.util.concurrent.CountDownLatch;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.NumericDocValuesField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.Term;
import org.apache.lucene.queryparser.classic.QueryParser;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.Sort;
import org.apache.lucene.search.SortField;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.store.RAMDirectory;
import org.apache.lucene.util.Version;

/** Two threads index, a third searches meanwhile; what is printed at the end does not depend on how they interleave. */
public class Search {
    private static final String[] WORDS = ("atom block cycle delay event field graph heap index join kernel lock monitor node order "
            + "path queue race split thread update value wait yield").split(" ");

    public static void main(String[] arguments) throws Exception {
        int documents = Integer.parseInt(arguments[0]);
        RAMDirectory directory = new RAMDirectory();
        IndexWriterConfig config = new IndexWriterConfig(Version.LATEST, new StandardAnalyzer());
        config.setMaxBufferedDocs(200);
        IndexWriter writer = new IndexWriter(directory, config);
        writer.commit();
        int threads = 2;
        CountDownLatch done = new CountDownLatch(threads);
        for (int i = 0; i < threads; i++) {
            int first = i;
            new Thread(() -> {
                try {
                    for (int number = first; number < documents; number += threads) {
                        writer.addDocument(document(number));
                        if (number % 50 == first) {
                            writer.deleteDocuments(new Term("key", "k" + (number - 10 * threads)));
                        }
                    }
                } catch (Exception exception) {
                    exception.printStackTrace();
                }
                done.countDown();
            }).start();
        }
        while (done.getCount() > 0) {
            try (DirectoryReader reader = DirectoryReader.open(writer, true)) {
                search(reader, "lock AND race");
            }
        }
        done.await();
        writer.forceMerge(1);
        writer.close();
        try (DirectoryReader reader = DirectoryReader.open(directory)) {
            System.out.println(reader.numDocs() + " documents");
            for (String query : new String[] {"lock", "lock AND race", "\"atom block\"", "thr*", "updat~1", "wait OR yield -node", "key:k7"}) {
                System.out.println(query + ": " + search(reader, query));
            }
        }
    }

    private static Document document(int number) {
        StringBuilder text = new StringBuilder();
        long state = number * 2654435761L + 12345;
        for (int i = 0; i < 40; i++) {
            state = state * 6364136223846793005L + 1442695040888963407L;
            text.append(WORDS[(int) (state >>> 33) % WORDS.length]).append(' ');
        }
        Document document = new Document();
        document.add(new StringField("key", "k" + number, Field.Store.YES));
        document.add(new NumericDocValuesField("number", number));
        document.add(new TextField("text", text.toString(), Field.Store.NO));
        return document;
    }

    private static String search(DirectoryReader reader, String query) throws Exception {
        IndexSearcher searcher = new IndexSearcher(reader);
        QueryParser parser = new QueryParser("text", new StandardAnalyzer());
        parser.setLowercaseExpandedTerms(false);
        Sort byNumber = new Sort(new SortField("number", SortField.Type.LONG));
        TopDocs found = searcher.search(parser.parse(query), 5, byNumber);
        StringBuilder result = new StringBuilder().append(found.totalHits);
        for (ScoreDoc hit : found.scoreDocs) {
            result.append(' ').append(searcher.doc(hit.doc).get("key"));
        }
        return result.toString();
    }
}
