/** What `promise` rejects with; a promise that does not is a failure of the test. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  const outcome = await promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if (!('error' in outcome)) throw new Error('expected a rejection, and there was none');
  return outcome.error;
}
