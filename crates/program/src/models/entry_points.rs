//! Methods that something outside the program calls, on which thread and how many times at once.
//!
//! These are the roots of the call graph and the abstract threads of a program that has no `main`:
//! servlets, listeners, scheduled methods, tests. Annotations are recognised by their simple name,
//! so that `javax` and `jakarta` mean the same. Approximations: a container's scope for a component
//! is taken as its default (Spring beans are shared, JAX-RS resources are made for each request).
//! Tasks that the program hands to a library itself (`Thread.start`, `Executor.execute`) are found
//! at the call, through the models; their `run` methods are listed here for programs that are
//! analysed without the code that submits them, and are marked [`EntryPoint::only_without_caller`].

/// One kind of entry point.
#[derive(Debug, PartialEq, Eq)]
pub struct EntryPoint {
    /// Which classes or methods it is about.
    pub matcher: Matcher,
    /// The method's name; `*` for any.
    pub method: &'static str,
    /// The method's descriptor; `*` for any.
    pub descriptor: &'static str,
    /// The thread that calls it.
    pub thread: EntryThread,
    /// Whether two calls can overlap.
    pub multiplicity: Multiplicity,
    /// Whether overlapping calls, or calls one after the other, are made on the same object.
    pub receiver: ReceiverSharing,
    /// True for methods that are normally reached through a modelled call, and are entry points
    /// only when no such call is found.
    pub only_without_caller: bool,
}

/// How an entry point is recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Matcher {
    /// Any class; the method's name and descriptor decide, and the method is static.
    AnyStatic,
    /// A class that extends or implements the named one.
    Subtype(&'static str),
    /// A class that extends or implements anything whose internal name begins so.
    SubtypeOfPackage(&'static str),
    /// A method with an annotation of this simple name.
    MethodAnnotation(&'static str),
    /// Any public method of a class with an annotation of this simple name.
    ClassAnnotation(&'static str),
}

/// The thread that calls an entry point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EntryThread {
    /// The main thread of the program.
    Main,
    /// A thread of its own.
    Own,
    /// A worker of some pool.
    Pool,
    /// A worker of a server, one for each request at a time.
    Request,
    /// The event dispatch thread of the user interface.
    EventDispatch,
    /// The single thread of a timer.
    Timer,
    /// The thread of a test runner.
    Test,
    /// A worker of a coroutine dispatcher.
    Coroutine,
    /// The container that starts and stops the program's parts, one part at a time.
    Container,
    /// The finalizer, a cleaner, or a shutdown hook.
    System,
    /// Whichever thread first needs the class.
    ClassInitialization,
}

/// How many calls can be under way at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Multiplicity {
    /// One at a time.
    One,
    /// Any number at a time.
    Many,
}

/// Whether the calls of an entry point share their receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReceiverSharing {
    /// The method is static.
    NoReceiver,
    /// One object receives all calls.
    Shared,
    /// Each call has an object of its own.
    PerCall,
    /// It depends on the program.
    Unknown,
}

use EntryThread::{
    ClassInitialization, Container, Coroutine, EventDispatch, Main, Own, Pool, Request, System,
    Test, Timer,
};
use Matcher::{AnyStatic, ClassAnnotation, MethodAnnotation, Subtype, SubtypeOfPackage};
use Multiplicity::{Many, One};
use ReceiverSharing::{NoReceiver, PerCall, Shared, Unknown};

const fn entry(
    matcher: Matcher,
    method: &'static str,
    descriptor: &'static str,
    thread: EntryThread,
    multiplicity: Multiplicity,
    receiver: ReceiverSharing,
) -> EntryPoint {
    EntryPoint {
        matcher,
        method,
        descriptor,
        thread,
        multiplicity,
        receiver,
        only_without_caller: false,
    }
}

/// The body of a task, reached through the call that submits it.
const fn task(
    class: &'static str,
    method: &'static str,
    descriptor: &'static str,
    thread: EntryThread,
    multiplicity: Multiplicity,
) -> EntryPoint {
    EntryPoint {
        matcher: Subtype(class),
        method,
        descriptor,
        thread,
        multiplicity,
        receiver: Unknown,
        only_without_caller: true,
    }
}

/// Every kind of entry point.
#[must_use]
pub fn entry_points() -> &'static [EntryPoint] {
    ENTRY_POINTS
}

#[rustfmt::skip]
const ENTRY_POINTS: &[EntryPoint] = &[
    // The language.
    entry(AnyStatic, "main", "([Ljava/lang/String;)V", Main, One, NoReceiver),
    entry(AnyStatic, "<clinit>", "()V", ClassInitialization, One, NoReceiver),
    entry(AnyStatic, "premain", "*", Main, One, NoReceiver),
    entry(AnyStatic, "agentmain", "*", System, One, NoReceiver),
    entry(Subtype("java/lang/Object"), "finalize", "()V", System, One, Unknown),
    entry(Subtype("scala/App"), "delayedEndpoint", "*", Main, One, Shared),

    // Tasks, found at the call that submits them when there is one.
    task("java/lang/Thread", "run", "()V", Own, Many),
    task("java/lang/Runnable", "run", "()V", Pool, Many),
    task("java/util/concurrent/Callable", "call", "()Ljava/lang/Object;", Pool, Many),
    task("java/util/TimerTask", "run", "()V", Timer, One),
    task("java/util/concurrent/RecursiveAction", "compute", "()V", Pool, Many),
    task("java/util/concurrent/RecursiveTask", "compute", "*", Pool, Many),
    task("java/util/concurrent/CountedCompleter", "compute", "()V", Pool, Many),
    task("java/util/concurrent/ForkJoinTask", "exec", "()Z", Pool, Many),
    task("java/util/concurrent/Flow$Subscriber", "onSubscribe", "*", Pool, One),
    task("java/util/concurrent/Flow$Subscriber", "onNext", "*", Pool, One),
    task("java/util/concurrent/Flow$Subscriber", "onError", "*", Pool, One),
    task("java/util/concurrent/Flow$Subscriber", "onComplete", "*", Pool, One),
    task("java/lang/Thread$UncaughtExceptionHandler", "uncaughtException", "*", System, Many),
    task("kotlin/coroutines/jvm/internal/BaseContinuationImpl", "invokeSuspend", "*",
        Coroutine, Many),
    task("javax/swing/SwingWorker", "doInBackground", "*", Pool, Many),
    task("javax/swing/SwingWorker", "process", "*", EventDispatch, One),
    task("javax/swing/SwingWorker", "done", "()V", EventDispatch, One),

    // Executor hooks.
    task("java/util/concurrent/ThreadPoolExecutor", "beforeExecute", "*", Pool, Many),
    task("java/util/concurrent/ThreadPoolExecutor", "afterExecute", "*", Pool, Many),
    task("java/util/concurrent/ThreadPoolExecutor", "terminated", "*", Pool, One),
    task("java/util/concurrent/Phaser", "onAdvance", "*", Pool, One),

    // User interfaces: any listener of AWT, Swing and JavaFX.
    entry(SubtypeOfPackage("java/awt/event/"), "*", "*", EventDispatch, One, Shared),
    entry(SubtypeOfPackage("javax/swing/event/"), "*", "*", EventDispatch, One, Shared),
    entry(Subtype("java/beans/PropertyChangeListener"), "propertyChange", "*",
        EventDispatch, One, Shared),
    entry(Subtype("java/awt/Component"), "paint", "*", EventDispatch, One, Shared),
    entry(Subtype("java/awt/Component"), "update", "*", EventDispatch, One, Shared),
    entry(Subtype("javax/swing/JComponent"), "paintComponent", "*", EventDispatch, One, Shared),
    entry(Subtype("javafx/event/EventHandler"), "handle", "*", EventDispatch, One, Shared),
    entry(Subtype("javafx/application/Application"), "start", "*", EventDispatch, One, Shared),
    entry(Subtype("javafx/application/Application"), "init", "*", Main, One, Shared),
    entry(Subtype("java/applet/Applet"), "init", "()V", EventDispatch, One, Shared),
    entry(Subtype("java/applet/Applet"), "start", "()V", EventDispatch, One, Shared),

    // Android.
    entry(Subtype("android/app/Activity"), "onCreate", "*", EventDispatch, One, Shared),
    entry(Subtype("android/app/Activity"), "onResume", "*", EventDispatch, One, Shared),
    entry(Subtype("android/app/Activity"), "onPause", "*", EventDispatch, One, Shared),
    entry(Subtype("android/app/Service"), "onStartCommand", "*", EventDispatch, One, Shared),
    entry(Subtype("android/content/BroadcastReceiver"), "onReceive", "*",
        EventDispatch, One, PerCall),
    entry(Subtype("android/os/AsyncTask"), "doInBackground", "*", Pool, Many, PerCall),

    // Servlets: one object, many threads.
    entry(Subtype("javax/servlet/Servlet"), "service", "*", Request, Many, Shared),
    entry(Subtype("jakarta/servlet/Servlet"), "service", "*", Request, Many, Shared),
    entry(Subtype("javax/servlet/Servlet"), "init", "*", Container, One, Shared),
    entry(Subtype("jakarta/servlet/Servlet"), "init", "*", Container, One, Shared),
    entry(Subtype("javax/servlet/Servlet"), "destroy", "*", Container, One, Shared),
    entry(Subtype("jakarta/servlet/Servlet"), "destroy", "*", Container, One, Shared),
    entry(Subtype("javax/servlet/http/HttpServlet"), "doGet", "*", Request, Many, Shared),
    entry(Subtype("javax/servlet/http/HttpServlet"), "doPost", "*", Request, Many, Shared),
    entry(Subtype("javax/servlet/http/HttpServlet"), "doPut", "*", Request, Many, Shared),
    entry(Subtype("javax/servlet/http/HttpServlet"), "doDelete", "*", Request, Many, Shared),
    entry(Subtype("javax/servlet/http/HttpServlet"), "doHead", "*", Request, Many, Shared),
    entry(Subtype("javax/servlet/http/HttpServlet"), "doOptions", "*", Request, Many, Shared),
    entry(Subtype("jakarta/servlet/http/HttpServlet"), "doGet", "*", Request, Many, Shared),
    entry(Subtype("jakarta/servlet/http/HttpServlet"), "doPost", "*", Request, Many, Shared),
    entry(Subtype("jakarta/servlet/http/HttpServlet"), "doPut", "*", Request, Many, Shared),
    entry(Subtype("jakarta/servlet/http/HttpServlet"), "doDelete", "*", Request, Many, Shared),
    entry(Subtype("jakarta/servlet/http/HttpServlet"), "doHead", "*", Request, Many, Shared),
    entry(Subtype("jakarta/servlet/http/HttpServlet"), "doOptions", "*", Request, Many, Shared),
    entry(Subtype("javax/servlet/Filter"), "doFilter", "*", Request, Many, Shared),
    entry(Subtype("jakarta/servlet/Filter"), "doFilter", "*", Request, Many, Shared),
    entry(Subtype("com/sun/net/httpserver/HttpHandler"), "handle", "*", Request, Many, Shared),

    // JAX-RS: an object for each request.
    entry(MethodAnnotation("GET"), "*", "*", Request, Many, PerCall),
    entry(MethodAnnotation("POST"), "*", "*", Request, Many, PerCall),
    entry(MethodAnnotation("PUT"), "*", "*", Request, Many, PerCall),
    entry(MethodAnnotation("DELETE"), "*", "*", Request, Many, PerCall),
    entry(MethodAnnotation("PATCH"), "*", "*", Request, Many, PerCall),

    // Spring: one bean, many threads.
    entry(MethodAnnotation("RequestMapping"), "*", "*", Request, Many, Shared),
    entry(MethodAnnotation("GetMapping"), "*", "*", Request, Many, Shared),
    entry(MethodAnnotation("PostMapping"), "*", "*", Request, Many, Shared),
    entry(MethodAnnotation("PutMapping"), "*", "*", Request, Many, Shared),
    entry(MethodAnnotation("DeleteMapping"), "*", "*", Request, Many, Shared),
    entry(MethodAnnotation("PatchMapping"), "*", "*", Request, Many, Shared),
    entry(MethodAnnotation("ExceptionHandler"), "*", "*", Request, Many, Shared),
    entry(MethodAnnotation("MessageMapping"), "*", "*", Request, Many, Shared),
    entry(MethodAnnotation("Scheduled"), "*", "*", Pool, One, Shared),
    entry(MethodAnnotation("Async"), "*", "*", Pool, Many, Shared),
    entry(MethodAnnotation("EventListener"), "*", "*", Pool, Many, Shared),
    entry(MethodAnnotation("KafkaListener"), "*", "*", Pool, Many, Shared),
    entry(MethodAnnotation("RabbitListener"), "*", "*", Pool, Many, Shared),
    entry(MethodAnnotation("JmsListener"), "*", "*", Pool, Many, Shared),
    entry(MethodAnnotation("PostConstruct"), "*", "*", Container, One, Shared),
    entry(MethodAnnotation("PreDestroy"), "*", "*", Container, One, Shared),
    entry(MethodAnnotation("Bean"), "*", "*", Container, One, Shared),
    entry(Subtype("org/springframework/boot/CommandLineRunner"), "run", "*", Main, One, Shared),
    entry(Subtype("org/springframework/boot/ApplicationRunner"), "run", "*", Main, One, Shared),

    // Enterprise beans: singletons are locked by the container, the others are not shared.
    entry(ClassAnnotation("Singleton"), "*", "*", Request, One, Shared),
    entry(ClassAnnotation("Stateless"), "*", "*", Request, Many, PerCall),
    entry(ClassAnnotation("MessageDriven"), "*", "*", Request, Many, PerCall),
    entry(ClassAnnotation("ApplicationScoped"), "*", "*", Request, Many, Shared),
    entry(ClassAnnotation("WebService"), "*", "*", Request, Many, Shared),
    entry(MethodAnnotation("Schedule"), "*", "*", Timer, One, Shared),
    entry(MethodAnnotation("OnMessage"), "*", "*", Request, Many, Shared),
    entry(Subtype("javax/jms/MessageListener"), "onMessage", "*", Request, One, Shared),
    entry(Subtype("jakarta/jms/MessageListener"), "onMessage", "*", Request, One, Shared),
    entry(Subtype("java/rmi/Remote"), "*", "*", Request, Many, Shared),

    // Network libraries and actors.
    entry(Subtype("io/netty/channel/ChannelInboundHandler"), "*", "*", Pool, One, PerCall),
    entry(ClassAnnotation("Sharable"), "*", "*", Pool, Many, Shared),
    entry(Subtype("akka/actor/Actor"), "receive", "*", Pool, One, PerCall),
    entry(Subtype("io/grpc/BindableService"), "*", "*", Request, Many, Shared),
    entry(Subtype("org/quartz/Job"), "execute", "*", Pool, Many, PerCall),

    // Tests: one after the other, an object for each.
    entry(MethodAnnotation("Test"), "*", "*", Test, One, PerCall),
    entry(MethodAnnotation("ParameterizedTest"), "*", "*", Test, One, PerCall),
    entry(MethodAnnotation("RepeatedTest"), "*", "*", Test, One, PerCall),
    entry(MethodAnnotation("TestFactory"), "*", "*", Test, One, PerCall),
    entry(MethodAnnotation("Before"), "*", "*", Test, One, PerCall),
    entry(MethodAnnotation("After"), "*", "*", Test, One, PerCall),
    entry(MethodAnnotation("BeforeEach"), "*", "*", Test, One, PerCall),
    entry(MethodAnnotation("AfterEach"), "*", "*", Test, One, PerCall),
    entry(MethodAnnotation("BeforeAll"), "*", "*", Test, One, NoReceiver),
    entry(MethodAnnotation("AfterAll"), "*", "*", Test, One, NoReceiver),
    entry(MethodAnnotation("BeforeClass"), "*", "*", Test, One, NoReceiver),
    entry(MethodAnnotation("AfterClass"), "*", "*", Test, One, NoReceiver),
    entry(MethodAnnotation("Benchmark"), "*", "*", Pool, Many, Unknown),
    // Stress tests: each actor has a thread of its own, and the state is shared.
    entry(MethodAnnotation("Actor"), "*", "*", Own, Many, Shared),
    entry(MethodAnnotation("Arbiter"), "*", "*", Test, One, Shared),
    entry(Subtype("junit/framework/TestCase"), "*", "()V", Test, One, PerCall),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_entry_point_is_listed_twice() {
        let mut keys: Vec<_> =
            entry_points().iter().map(|row| (row.matcher, row.method, row.descriptor)).collect();
        keys.sort_unstable();
        for pair in keys.windows(2) {
            assert_ne!(pair[0], pair[1]);
        }
    }

    #[test]
    fn the_main_method_runs_once_on_the_main_thread() {
        let main = entry_points().iter().find(|row| row.method == "main").unwrap();
        assert_eq!((main.thread, main.multiplicity), (Main, One));
        assert!(!main.only_without_caller);
    }
}
