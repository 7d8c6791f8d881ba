/** Limits of a schema and of a check. Both sides are foreign: the schema is the client's, the value the model's. */

/** Schemas inside of a schema. */
export const maxSchemas = 10_000
/** Levels of schemas, and of schemas that refer to each other, at one place of the value. */
export const maxDepth = 256
export const maxPatternChars = 1_000
/** Schemas that are applied, members and items that are looked at. */
export const maxSteps = 250_000

/** Steps of patterns (`LinearPattern.ts`): some 50 ms at worst. */
export const maxMatchSteps = 3_000_000

/** The schema, or the check, exceeds a limit, or uses what is not supported: nothing can be said about the value. */
export class Undecided extends Error {}

/** Rest of the steps that a check may take. A class, because one is made per check. */
export class Budget {
  #steps = maxSteps
  #matchSteps = maxMatchSteps

  spend(steps: number): void {
    this.#steps -= steps
    if (this.#steps < 0) throw new Undecided(`The check takes more than ${maxSteps} steps.`)
  }

  match(steps: number): void {
    this.#matchSteps -= steps
    if (this.#matchSteps < 0) throw new Undecided(`The patterns of the schema take more than ${maxMatchSteps} steps.`)
  }
}
