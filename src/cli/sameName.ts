/** Names of things that may be there more than once: a second one is made or renamed only where that is meant. */
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import { BadArgument } from "./Failure.ts"

export const allowSameName = Options.boolean("allow-same-name").pipe(
  Options.withDescription("Allow a name that another one has already.")
)

interface Named {
  readonly id: string
  readonly name: string
}

export interface NewName {
  /** Kind of the named entity, such as `key`. */
  readonly what: string
  readonly name: string
  readonly isAllowed: boolean
  /** Id of the entity that has the name now and may keep it; null: it is for something new. */
  readonly ownId: string | null
}

/** The usual name of something new, with a number behind it where others have it. */
export const freeName = (all: ReadonlyArray<Named>, usual: string, between = " "): string => {
  const names = new Set(all.map(({ name }) => name))
  if (!names.has(usual)) return usual
  let number = 2
  while (names.has(`${usual}${between}${number}`)) number++
  return `${usual}${between}${number}`
}

/** Refuses a name that another one of them has. */
export const refuseTaken = (
  all: ReadonlyArray<Named>,
  { isAllowed, name, ownId, what }: NewName
): Effect.Effect<void, BadArgument> => {
  const holder = isAllowed ? undefined : all.find((each) => each.name === name && each.id !== ownId)
  return holder === undefined
    ? Effect.void
    : new BadArgument({
        message: `There is a ${what} '${name}' already (${holder.id}).`,
        hint: "Give another name; --allow-same-name lets two have it, which then have to be told apart by their ids."
      })
}
