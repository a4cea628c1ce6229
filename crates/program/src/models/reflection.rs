//! Calls whose target is not in the call: reflection, method handles, proxies, class loading,
//! service loading, native libraries, deserialisation, scripts.
//!
//! `Reflective` says that any code may run, with any effect; an analysis reports it as a gap. It is
//! not used for looking things up, only for what runs code, static initialisers included.
//! Approximations: `Field.get` and `Field.set` are accesses to a variable that the row cannot name;
//! their memory order is that of the field. Proxies run their handler in the calling thread.

use super::vocabulary::*;

use Effect::*;
use Operand::{Argument, Result};

pub(super) const ROWS: &[&[Model]] = models! {
    "java/lang/reflect/Method" => {
        "invoke" "*" [Reflective];
        "getName", "getParameterTypes", "getReturnType", "getModifiers" "*" [];
        "getDeclaringClass", "setAccessible" "*" [];
    }
    "java/lang/reflect/Constructor" => {
        "newInstance" "*" [Reflective, FRESH];
    }
    "java/lang/reflect/Field" => {
        "get", "getInt", "getLong", "getBoolean", "getByte", "getShort", "getChar" "*" [
            Read { of: Argument(0) },
        ];
        "getFloat", "getDouble" "*" [Read { of: Argument(0) }];
        "set", "setInt", "setLong", "setBoolean", "setByte", "setShort", "setChar" "*" [
            Write { of: Argument(0) },
        ];
        "setFloat", "setDouble" "*" [Write { of: Argument(0) }];
    }
    "java/lang/reflect/Array" => {
        "newInstance" "*" [FRESH];
        "get", "getInt", "getLong", "getBoolean", "getByte", "getShort", "getChar" "*" [
            Read { of: Argument(0) },
        ];
        "getFloat", "getDouble" "*" [Read { of: Argument(0) }];
        "set" "*" [Write { of: Argument(0) }, Store { value: Argument(2), into: Argument(0) }];
        "setInt", "setLong", "setBoolean", "setByte", "setShort", "setChar" "*" [
            Write { of: Argument(0) },
        ];
        "setFloat", "setDouble" "*" [Write { of: Argument(0) }];
        "getLength" "*" [];
    }
    "java/lang/reflect/Proxy" => {
        "newProxyInstance" "*" [Wraps { task: Argument(2), by: Result }, FRESH];
    }
    "java/lang/reflect/InvocationHandler" => {
        "invoke" "*" [];
    }

    "java/lang/Class" => {
        // The first two may run a static initialiser.
        "forName" "*" [Reflective];
        "newInstance" "*" [Reflective, FRESH];
        "getName", "getSimpleName", "desiredAssertionStatus", "isInstance", "getClassLoader" "*" [];
        "getMethod", "getDeclaredMethod", "getMethods", "getDeclaredMethods" "*" [FRESH];
        "getField", "getDeclaredField", "getFields", "getDeclaredFields" "*" [FRESH];
        "getConstructor", "getDeclaredConstructor", "getConstructors" "*" [FRESH];
        "getEnumConstants" "*" [Reflective, FRESH];
        "cast" "*" [VIEW0];
        "isAssignableFrom", "isInterface", "isArray", "isPrimitive", "getSuperclass" "*" [];
        "getInterfaces", "getComponentType", "getModifiers", "getTypeName", "getPackage" "*" [];
        "getResource", "getResourceAsStream", "isAnnotationPresent", "getAnnotation" "*" [];
    }
    "java/lang/ClassLoader" => {
        "loadClass" "*" [Reflective, Synchronized { lock: Operand::Receiver }];
        "getResource", "getResourceAsStream", "getSystemClassLoader", "getParent" "*" [];
    }
    "java/lang/Enum" => {
        "name", "ordinal", "compareTo", "equals", "hashCode", "toString" "*" [];
        "getDeclaringClass", "describeConstable", "valueOf" "*" [];
    }
    "java/util/ServiceLoader" => {
        "load", "loadInstalled" "*" [FRESH];
        "iterator", "stream", "findFirst" "*" [Reflective, VIEW];
    }

    "java/lang/invoke/MethodHandle" => {
        "invoke", "invokeExact", "invokeWithArguments" "*" [Reflective];
        "bindTo", "asType", "asSpreader", "asCollector", "asVarargsCollector" "*" [VIEW];
        "asFixedArity", "withVarargs" "*" [VIEW];
        "type", "isVarargsCollector" "*" [];
    }
    "java/lang/invoke/MethodHandles" => {
        "lookup", "publicLookup", "privateLookupIn" "*" [];
        "arrayElementVarHandle" "*" [];
    }
    "java/lang/invoke/MethodHandles$Lookup" => {
        "findVirtual", "findStatic", "findSpecial", "findConstructor", "unreflect" "*" [];
        "findVarHandle", "findStaticVarHandle", "unreflectVarHandle" "*" [];
        "findGetter", "findSetter", "findStaticGetter", "findStaticSetter" "*" [];
        "defineClass", "defineHiddenClass", "ensureInitialized" "*" [Reflective];
        "findClass" "*" [Reflective];
    }

    "java/io/ObjectInputStream" => {
        "readObject", "readUnshared" "*" [Reflective, FRESH];
        "defaultReadObject" "*" [Reflective];
    }
    "java/io/ObjectOutputStream" => {
        "writeObject", "writeUnshared" "*" [Reflective, Read { of: Argument(0) }];
        "defaultWriteObject" "*" [Reflective];
    }
    "javax/script/ScriptEngine" => {
        "eval" "*" [Reflective];
    }
    "javax/script/Invocable" => {
        "invokeFunction", "invokeMethod" "*" [Reflective];
    }
};
