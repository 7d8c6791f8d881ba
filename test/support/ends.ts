/** Ends of what the tests of a file have started. The modules of tests are shared by files, so that a hook at their top level would be of the first file alone. */

const ends: Array<() => Promise<void> | void> = []

/** Adds what is done when the tests of this file are over; what was added last is done first. */
export const atEndOfFile = (end: () => Promise<void> | void): void => void ends.push(end)

/** Does it all, whatever fails, and fails with the first failure. Called by `ownFile.setup.ts`. */
export const endFile = async (): Promise<void> => {
  const failures: Array<unknown> = []
  for (const end of ends.splice(0).toReversed()) {
    try {
      await end()
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
}
