/** The part of an AbortSignal that the engine uses. */
export interface CancelSignal {
  readonly aborted: boolean;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** The actions to run when a signal is aborted. They share one listener: Node warns of more than ten on a signal. */
const ACTIONS = new WeakMap<
  CancelSignal,
  { readonly actions: Set<() => void>; readonly listener: () => void }
>();

/** Calls `action` when `signal` is aborted. Returns a function that cancels this; after the last one, no listener stays. */
function onAbort(signal: CancelSignal, action: () => void): () => void {
  let shared = ACTIONS.get(signal);
  if (shared === undefined) {
    const actions = new Set<() => void>();
    shared = { actions, listener: () => [...actions].forEach((each) => each()) };
    ACTIONS.set(signal, shared);
    signal.addEventListener('abort', shared.listener);
  }
  const { actions, listener } = shared;
  actions.add(action);
  return () => {
    if (!actions.delete(action) || actions.size > 0) return;
    ACTIONS.delete(signal);
    signal.removeEventListener('abort', listener);
  };
}

/** Cancels what one caller waits for: by its signal, or by {@link cancel}. Listens to the signal only meanwhile. */
export class Cancellation {
  #cancelled = false;
  #stopWaiting: () => void = () => {};

  constructor(private readonly signal: CancelSignal | undefined) {}

  isCancelled(): boolean {
    return this.#cancelled || this.signal?.aborted === true;
  }

  cancel(): void {
    this.#cancelled = true;
    this.#stopWaiting();
  }

  /** Settles as `work` does, or resolves with `undefined` once cancelled: the outcome of `work` is then ignored. */
  async unlessCancelled<T>(work: Promise<T>): Promise<T | undefined> {
    let stopWaiting!: () => void;
    const cancelled = new Promise<undefined>((resolve) => (stopWaiting = () => resolve(undefined)));
    this.#stopWaiting = stopWaiting;
    const stopListening = this.signal && onAbort(this.signal, stopWaiting);
    if (this.isCancelled()) stopWaiting();
    try {
      return await Promise.race([cancelled, work]);
    } finally {
      stopListening?.();
    }
  }
}
