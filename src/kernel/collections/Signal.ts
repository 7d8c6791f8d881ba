/** Listeners of something that happens now and then. They must neither throw nor take long. */
export interface Signal<A> {
  readonly tell: (value: A) => void
  /** Calls `listener` with each value until the returned function is called. */
  readonly listen: (listener: (value: A) => void) => () => void
}

export const makeSignal = <A>(): Signal<A> => {
  // Replaced as a whole: a listener may remove itself or another while they are called.
  let listeners: ReadonlyArray<(value: A) => void> = []
  return {
    tell: (value) => {
      for (const listener of listeners) listener(value)
    },
    listen: (listener) => {
      const own = (value: A): void => listener(value)
      listeners = [...listeners, own]
      return () => {
        listeners = listeners.filter((other) => other !== own)
      }
    }
  }
}
