//! Fields: the fields that classes get beside their own, and the accesses that are watched.

use std::sync::Arc;

use classes::descriptor::{Type, parse_field, parse_method};
use classes::{FieldInfo, MemberRef, PoolIndex, access};
use models::{ClassContext, language};

use crate::class_hierarchy::FieldFlags;
use crate::error::InstrumentError;
use crate::plan::new_objects::Known;
use crate::plan::{MethodPlan, Planner};
use crate::sites::SiteTarget;
use crate::surgery::Snippet;
use agent_protocol::{Hook, OrderHook};

/// What the names of all injected fields begin with.
pub(super) const INJECTED: &str = "$scission$";
pub(crate) const IDENTITY: &str = "$scission$id";
pub(crate) const LAST_READ: &str = "$scission$r$";
pub(crate) const LAST_WRITE: &str = "$scission$w$";
/// Stands for all that is in a library object; no field has such a name.
pub(crate) const CONTENTS: &str = "$contents";

/// Injected fields are private, whatever the visibility of the field they belong to: the computed
/// `serialVersionUID` of a class leaves private transient fields out.
pub(crate) const INJECTED_ACCESS: u16 = access::PRIVATE | access::SYNTHETIC | access::TRANSIENT;

/// Whether a field is made by the compiler of Java and set before anybody else can see it: what inner classes
/// know of their surroundings, and the tables behind `switch` on enums.
fn is_surrounding(name: &str) -> bool {
    let is_outer = name
        .strip_prefix("this$")
        .is_some_and(|number| number.starts_with(|first: char| first.is_ascii_digit()));
    is_outer || name.starts_with("val$") || name.starts_with("$SwitchMap$")
}

impl Planner<'_> {
    /// Gives the class the fields in which the runtime notes who accessed an object last. Says whether
    /// there are any.
    pub(super) fn inject_fields(&mut self) -> Result<bool, InstrumentError> {
        let file = self.file;
        if file.has_access(access::INTERFACE) {
            return Ok(false);
        }
        let mut injected = false;
        let inherits_identity = file.super_name.as_ref().is_some_and(|name| self.watches(name));
        if !inherits_identity {
            self.editor.add_field(INJECTED_ACCESS, IDENTITY, "J")?;
            injected = true;
        }
        for field in &file.fields {
            // Obfuscators give one name to fields of different types; their shadows would be the same.
            let is_unique =
                file.fields.iter().filter(|other| other.name == field.name).count() == 1;
            if is_unique && self.has_shadow(field) {
                // Writes of volatile fields are always reported.
                let is_volatile = field.has_access(access::VOLATILE);
                let prefixes: &[&str] =
                    if is_volatile { &[LAST_READ] } else { &[LAST_READ, LAST_WRITE] };
                for prefix in prefixes {
                    self.editor.add_field(
                        INJECTED_ACCESS,
                        &format!("{prefix}{}", field.name),
                        "J",
                    )?;
                }
                injected = true;
            }
        }
        Ok(injected)
    }

    /// Whether accesses to a field are watched; `reads_static` says that a static field is read by
    /// other code than the initialiser of this class.
    pub(super) fn watches_field(
        &self,
        field: &MemberRef<'_>,
        flags: Option<FieldFlags>,
        reads_static: bool,
    ) -> bool {
        if is_surrounding(field.name)
            || !self.watches(field.class)
            || self.is_safe_by_user(field.class)
        {
            return false;
        }
        match flags {
            Some(flags) if flags.is_final => {
                // What the initialiser of a class put there is seen by other threads only because
                // the class was initialised before.
                let is_shared_object = match parse_field(field.descriptor) {
                    Ok(Type::Object(class)) => class != language::STRING,
                    Ok(Type::Array { .. }) => true,
                    _ => false,
                };
                reads_static && is_shared_object
            }
            Some(_) => true,
            None if field.class != &self.file.name => true,
            // An inherited field; nothing of a library class is watched.
            None => {
                let mut supertypes = self.file.super_name.iter().chain(&self.file.interfaces);
                supertypes.any(|name| self.watches(name))
            }
        }
    }

    /// Whether threads may share a field, by the list of those that they do. Code may name a subclass of the class that
    /// declares a field; only of this class it is known what it declares. So elsewhere a name that is listed is enough.
    pub(super) fn may_be_shared(&self, class: &str, name: &str, descriptor: &str) -> bool {
        let Some(list) = &self.config.shared_fields else { return true };
        let is_declared = || {
            let mut fields = self.file.fields.iter();
            fields.any(|field| *field.name == *name && *field.descriptor == *descriptor)
        };
        if *class == *self.file.name && is_declared() {
            return list.contains(&self.class, name);
        }
        list.has_name(name)
    }

    /// Whether a watch list cannot know what matters of the fields of a class: whoever made it has not seen the class, or
    /// one above it.
    fn is_unlisted(&self, class: &Arc<str>) -> bool {
        let Some(list) = self.list else { return false };
        let is_unknown = |class: &Arc<str>| {
            self.watches(class) && !list.knows_name(&classes::binary_name(class))
        };
        self.config.hierarchy.with_supertypes(class).iter().any(is_unknown)
    }

    /// What is known of a field: everything if it is in this class; of others only if their classes were seen before.
    pub(super) fn flags(&self, field: &MemberRef<'_>) -> Option<FieldFlags> {
        match self.declared(field) {
            Some(declared) => Some(FieldFlags::of(declared)),
            None => self.config.hierarchy.field(field.class, field.name, field.descriptor),
        }
    }

    /// The declaration of a field, when it is in this class.
    fn declared(&self, field: &MemberRef<'_>) -> Option<&FieldInfo> {
        let is_own = field.class == &self.file.name;
        self.file.fields.iter().find(|declared| {
            is_own && declared.name == *field.name && declared.descriptor == *field.descriptor
        })
    }

    /// Whether the runtime notes accesses to a field beside it.
    fn has_shadow(&self, field: &FieldInfo) -> bool {
        let unwatched = access::STATIC | access::FINAL;
        !field.has_access(unwatched)
            && !is_surrounding(&field.name)
            && !self.is_own_compiler_made(field)
    }

    /// Whether a field of this class belongs to code that the compiler made.
    fn is_own_compiler_made(&self, field: &FieldInfo) -> bool {
        let is_volatile = field.has_access(access::VOLATILE);
        let models = &self.config.models;
        models.is_compiler_made(self.context(&self.supertypes()), &field.name, is_volatile)
    }

    /// The supertypes that this class names.
    pub(super) fn supertypes(&self) -> Vec<&str> {
        self.file.super_name.iter().chain(&self.file.interfaces).map(|name| &**name).collect()
    }

    /// This class, for questions to the models.
    pub(super) fn context<'s>(&'s self, supertypes: &'s [&'s str]) -> ClassContext<'s> {
        ClassContext { name: &self.file.name, supertypes }
    }
}

/// A field access that is watched.
struct WatchedAccess<'a> {
    /// The class that the code names.
    owner: &'a str,
    /// Whether the value takes two words.
    is_wide: bool,
    /// Whether the field is volatile, as far as is known: those of classes that nobody has seen may be.
    may_be_volatile: bool,
    /// Whether the field gives order and is no variable.
    is_order: bool,
    /// Whether no other thread can know the object yet.
    is_new: bool,
    site: i32,
}

impl<'a> MethodPlan<'_, 'a> {
    pub(super) fn get_field(
        &mut self,
        offset: u32,
        field: PoolIndex,
    ) -> Result<(), InstrumentError> {
        let Some(access) = self.watched(offset, field, false, true) else { return Ok(()) };
        // The object waits below the value.
        let mut before = Snippet::new();
        self.approach(&mut before, access.site)?;
        if access.may_be_volatile {
            before.dup();
            self.call(&mut before, Hook::BeforeRead, &[access.site])?;
        }
        before.dup();
        self.before(offset, &before);
        let mut after = Snippet::new();
        if access.is_wide {
            after.dup2_x1().pop2();
        } else {
            after.swap();
        }
        if access.is_order {
            self.call_order(&mut after, OrderHook::AcquireOrderField, &[access.site])?;
        } else {
            let hook = if access.is_new { Hook::ReadNew } else { Hook::Read };
            self.call(&mut after, hook, &[access.site])?;
        }
        self.after(offset, &after);
        Ok(())
    }

    pub(super) fn put_field(
        &mut self,
        offset: u32,
        field: PoolIndex,
    ) -> Result<(), InstrumentError> {
        if self.construction.may_use_unfinished(offset) {
            return Ok(());
        }
        let Some(access) = self.watched(offset, field, false, false) else { return Ok(()) };
        let mut before = Snippet::new();
        if access.is_wide {
            before.dup2_x1().pop2().dup_x2();
        } else {
            before.dup2().pop();
        }
        self.approach(&mut before, access.site)?;
        if access.is_order {
            self.call_order(&mut before, OrderHook::ReleaseOrderField, &[access.site])?;
        } else {
            let hook = if access.is_new { Hook::WriteNew } else { Hook::Write };
            self.call(&mut before, hook, &[access.site])?;
        }
        self.before(offset, &before);
        self.written(offset, &access)
    }

    pub(super) fn get_static(
        &mut self,
        offset: u32,
        field: PoolIndex,
    ) -> Result<(), InstrumentError> {
        let Some(access) = self.watched(offset, field, true, true) else { return Ok(()) };
        let mut before = Snippet::new();
        self.approach_static(&mut before, access.site)?;
        if access.may_be_volatile && self.planner.has_class_constants() {
            self.push_class(&mut before, access.owner)?;
            self.call(&mut before, Hook::BeforeReadStatic, &[access.site])?;
        } else if access.may_be_volatile {
            self.call(&mut before, Hook::BeforeReadStaticUnnamed, &[access.site])?;
        }
        self.before(offset, &before);
        let mut after = Snippet::new();
        if self.planner.has_class_constants() {
            self.push_class(&mut after, access.owner)?;
            self.call(&mut after, Hook::ReadStatic, &[access.site])?;
        } else {
            self.call(&mut after, Hook::ReadStaticUnnamed, &[access.site])?;
        }
        self.after(offset, &after);
        Ok(())
    }

    pub(super) fn put_static(
        &mut self,
        offset: u32,
        field: PoolIndex,
    ) -> Result<(), InstrumentError> {
        let Some(access) = self.watched(offset, field, true, false) else { return Ok(()) };
        let mut before = Snippet::new();
        self.approach_static(&mut before, access.site)?;
        if self.planner.has_class_constants() {
            self.push_class(&mut before, access.owner)?;
            self.call(&mut before, Hook::WriteStatic, &[access.site])?;
        } else {
            self.call(&mut before, Hook::WriteStaticUnnamed, &[access.site])?;
        }
        self.before(offset, &before);
        self.written(offset, &access)
    }

    /// The write of a volatile field has an end as well.
    fn written(&mut self, offset: u32, access: &WatchedAccess<'_>) -> Result<(), InstrumentError> {
        if access.may_be_volatile {
            let mut after = Snippet::new();
            self.call(&mut after, Hook::Written, &[access.site])?;
            self.after(offset, &after);
        }
        Ok(())
    }

    /// The access that an instruction makes, when it is watched. An instruction that names no field is
    /// left to the JVM to refuse.
    fn watched(
        &mut self,
        offset: u32,
        index: PoolIndex,
        is_static: bool,
        is_read: bool,
    ) -> Option<WatchedAccess<'a>> {
        let file = self.planner.file;
        let field = file.pool.member_ref(index).ok()?;
        let kind = parse_field(field.descriptor).ok()?;
        let known = self.objects.as_ref().and_then(|objects| objects.known(offset));
        if known == Some(Known::ToMethod) && self.planner.leaves_out() {
            return None;
        }
        let reads_static = is_static && is_read && &*self.method.name != "<clinit>";
        let flags = self.planner.flags(&field);
        if !self.planner.watches_field(&field, flags, reads_static) {
            return None;
        }
        let declared = self.planner.declared(&field);
        let is_volatile = flags.is_some_and(|flags| flags.is_volatile);
        self.may_synchronise |= is_volatile;
        let is_compiler_made = self.is_compiler_made(&field, declared);
        if is_compiler_made && !is_volatile {
            return None;
        }
        // What orders threads inside of code that is not watched is no variable of the program.
        let is_order = (is_compiler_made || is_volatile && !self.watches_accesses) && !is_static;
        // An order that is no variable has no interval either.
        let may_be_volatile = !is_order && flags.is_none_or(|flags| flags.is_volatile);
        let may_be_shared =
            is_volatile || self.planner.may_be_shared(field.class, field.name, field.descriptor);
        // Code that gives order only accesses no variable but volatile ones, and those that may turn out to be.
        let gives_order = !self.watches_accesses && (is_volatile || flags.is_none());
        // What orders threads is told whatever a list says: without it, checkers would see conflicts that are none.
        let orders_threads = is_volatile || (reads_static && kind.is_reference());
        let is_listed = self.watches_access(offset)
            || (self.watches_accesses && (orders_threads || self.planner.is_unlisted(field.class)));
        if !gives_order && (!is_listed || !may_be_shared) {
            self.unlisted_accesses += u32::from(self.watches_accesses && !is_listed);
            return None;
        }
        self.accesses += u32::from(!is_order);
        // A write of a volatile field orders whoever reads it, however that thread got the object.
        let is_new = known.is_some() && !may_be_volatile && !is_order;
        self.new_accesses += u32::from(is_new);
        let site = self.field_site(offset, &field, is_static)?;
        self.field_sites.insert(offset, site);
        Some(WatchedAccess {
            owner: field.class,
            is_wide: kind.slots() == 2,
            may_be_volatile,
            is_order,
            is_new,
            site,
        })
    }

    /// The place of an access to a field.
    pub(super) fn field_site(
        &mut self,
        offset: u32,
        field: &MemberRef<'_>,
        is_static: bool,
    ) -> Option<i32> {
        let subject = format!("{}.{}", classes::binary_name(field.class), field.name);
        let target = SiteTarget::Field {
            owner: field.class.to_string(),
            name: field.name.to_string(),
            descriptor: field.descriptor.to_string(),
            is_static,
        };
        self.site(Some(offset), subject, target)
    }

    /// Whether a field belongs to code that the compiler made.
    fn is_compiler_made(&self, field: &MemberRef<'_>, declared: Option<&FieldInfo>) -> bool {
        if let Some(declared) = declared {
            return self.planner.is_own_compiler_made(declared);
        }
        // Of another class nothing but its name is known. One that belongs to this class may hold the state
        // of a method between two calls; then it is of the type that the method is called with again.
        let is_nested = field
            .class
            .strip_prefix(&*self.planner.file.name)
            .is_some_and(|rest| rest.starts_with('$'));
        let last = match parse_method(&self.method.descriptor) {
            Ok(types) => types.params.last().copied(),
            Err(_) => None,
        };
        let supertypes: &[&str] = match &last {
            Some(Type::Object(class)) if is_nested => &[class],
            _ => &[],
        };
        let owner = ClassContext { name: field.class, supertypes };
        self.planner.config.models.is_compiler_made(owner, field.name, false)
    }
}
