/** A short timeout, for tests that wait until it expires. */
export const STORE_TIMEOUT_MS = 500;
/** A timeout that must not expire. */
export const PATIENT_MS = 20_000;
/** Answers that do not wait for that timeout take less, even on a busy machine. */
export const AT_ONCE_MS = PATIENT_MS / 4;
/** Every request must be answered within this time, during any fault. */
export const ANSWERED_WITHIN_MS = STORE_TIMEOUT_MS + 1000;
