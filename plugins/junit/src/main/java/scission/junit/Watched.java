package scission.junit;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Fails a test of JUnit 5 in which a synchronization defect was observed, with what was found as the reason. On a class, it
 * applies to all tests of the class.
 *
 * <p>The tests must run watched: {@code mvn scission:test}, or any launcher after {@code scission run --}. A test that is
 * not watched fails, since nobody knows what it would show; with the system property {@code scission.unwatched=skip} it is
 * skipped.
 *
 * <p>What is observed while several tests run at once is attributed to the one that ends first.
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@ExtendWith(WatchedExtension.class)
public @interface Watched {}
