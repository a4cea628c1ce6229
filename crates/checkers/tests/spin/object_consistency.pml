/*
 * The protocol of the checker object-consistency, in the manner of Program 7.1 of von Praun's dissertation. Threads
 * execute a method that reads a counter and writes it, incremented. Some take a lock for each access and not for both.
 * Hooks report a read after it was made and a write before; under a lock, report and access are in one order with those of
 * others. The checker takes the reports one by one.
 *
 * Whatever the interleaving: if an update was lost, an overlap was reported, or a data race between the threads. And an
 * overlap is never reported of threads that came one after the other.
 *
 * Mutants: REPORTS_OUTSIDE reports a locked access after the lock was given back; ENDS_AT_LOCKS takes the accesses of a
 * method to be units of their own; IGNORES_RACES looks at overlaps alone.
 */

#ifndef THREADS
#define THREADS 3
#endif

byte counter = 0;
bool lock = false;
byte done = 0;

/* The checker: what the units at work have seen. */
bool at_work[THREADS];
bool first_writes[THREADS];
bool others_read[THREADS];
bool others_wrote[THREADS];
bool overlap = false;
bool race = false;

/* Which accesses there were, by whether they were made under the lock. */
bool read_by[THREADS];
bool written_by[THREADS];
bool is_locked[THREADS];

/* Whether the threads came one after the other: nobody began while another was in the method. */
byte inside = 0;
bool is_serial = true;

inline report(me, writes) {
    d_step {
        byte other = 0;
        if
        :: at_work[me] && (others_wrote[me] || (others_read[me] && (first_writes[me] || writes))) -> overlap = true
        :: else
        fi;
        if
        :: !at_work[me] -> at_work[me] = true; first_writes[me] = writes
        :: else
        fi;
        other = 0;
        do
        :: other < THREADS ->
            if
            :: other != me && at_work[other] && writes -> others_wrote[other] = true
            :: other != me && at_work[other] && !writes -> others_read[other] = true
            :: else
            fi;
            if
            :: other != me && (written_by[other] || (writes && read_by[other])) && !(is_locked[me] && is_locked[other]) ->
                race = true
            :: else
            fi;
            other++
        :: else -> break
        od;
        if
        :: writes -> written_by[me] = true
        :: else -> read_by[me] = true
        fi
    }
}

inline end_unit(me) {
    d_step { at_work[me] = false; others_read[me] = false; others_wrote[me] = false }
}

inline acquire(me) {
    if
    :: is_locked[me] -> atomic { !lock -> lock = true }
    :: else
    fi
}

inline release(me) {
    if
    :: is_locked[me] -> lock = false
    :: else
    fi
}

proctype user(byte me) {
    byte seen;
    d_step { is_serial = is_serial && inside == 0; inside++ }

    acquire(me);
    seen = counter;
#ifdef REPORTS_OUTSIDE
    release(me);
    report(me, false);
#else
    report(me, false);
    release(me);
#endif
#ifdef ENDS_AT_LOCKS
    end_unit(me);
#endif

    acquire(me);
#ifdef REPORTS_OUTSIDE
    counter = seen + 1;
    release(me);
    report(me, true);
#else
    report(me, true);
    counter = seen + 1;
    release(me);
#endif

    d_step { inside--; at_work[me] = false; others_read[me] = false; others_wrote[me] = false; done++ }
}

init {
    byte next = 0;
    do
    :: next < THREADS ->
        if
        :: is_locked[next] = true
        :: is_locked[next] = false
        fi;
        next++
    :: else -> break
    od;
    atomic {
        next = 0;
        do
        :: next < THREADS -> run user(next); next++
        :: else -> break
        od
    }
    done == THREADS;
#ifdef IGNORES_RACES
    assert(overlap || counter == THREADS);
#else
    assert(overlap || race || counter == THREADS);
#endif
    assert(!(is_serial && overlap));
}
