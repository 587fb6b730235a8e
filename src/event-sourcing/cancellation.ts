/** The part of an AbortSignal that the engine uses. */
export interface CancelSignal {
  readonly aborted: boolean;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
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
    this.signal?.addEventListener('abort', stopWaiting);
    if (this.isCancelled()) stopWaiting();
    try {
      return await Promise.race([cancelled, work]);
    } finally {
      this.signal?.removeEventListener('abort', stopWaiting);
    }
  }
}
