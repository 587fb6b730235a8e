/** Admits one save at a time, over all streams. */
export class SaveSlot {
  #taken = false;

  get free(): boolean {
    return !this.#taken;
  }

  async hold(save: () => Promise<void>): Promise<void> {
    this.#taken = true;
    await save().finally(() => (this.#taken = false));
  }
}
