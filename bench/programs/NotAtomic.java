package programs;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Marks a method that is not meant to happen all at once, because it waits for other threads on its way. */
@Retention(RetentionPolicy.CLASS)
@Target(ElementType.METHOD)
public @interface NotAtomic {
}
