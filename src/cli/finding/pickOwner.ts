/** Finds the person and the team that words mean. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { BadArgument } from "../Failure.ts"
import { pick } from "../flags/Flags.ts"
import { serviceOf } from "../gateway/Service.ts"
import type { Target } from "../gateway/Client.ts"

/** The person of an e-mail address, else of a name or an id. */
export const pickUser = <A extends { readonly id: string; readonly name: string; readonly email: string }>(
  all: ReadonlyArray<A>,
  word: string
) => {
  const found = all.filter(({ email }) => email === word.toLowerCase())
  // People of two issuers may have the same e-mail address: then the id is needed.
  if (found.length > 1 && all.every(({ id }) => id !== word)) {
    const ids = found.map(({ id }) => id).join(", ")
    return new BadArgument({
      message: `Several people have the e-mail address '${word}': ${ids}.`,
      hint: "Give the id."
    })
  }
  return pick("person", all, found[0]?.id ?? word, "gateway users list")
}

export const pickTeam = <A extends { readonly id: string; readonly name: string }>(
  all: ReadonlyArray<A>,
  word: string
) => pick("team", all, word, "gateway teams list")

export const userIdOf = (to: Target, word: string) =>
  Effect.gen(function* () {
    const { users } = yield* (yield* serviceOf(to, "users")).list()
    return (yield* pickUser(users, word)).id
  })

export const teamIdOf = (to: Target, word: string) =>
  Effect.gen(function* () {
    const { teams } = yield* (yield* serviceOf(to, "teams")).list()
    return (yield* pickTeam(teams, word)).id
  })

/** Id of what a flag names: undefined where it is not given, null for `none`. */
export const ownerOf = <E, R>(
  given: Option.Option<string>,
  idOf: (word: string) => Effect.Effect<string, E, R>
): Effect.Effect<string | null | undefined, E, R> =>
  Option.match(given, {
    onNone: () => Effect.succeed(undefined),
    onSome: (word) => (word === "none" ? Effect.succeed(null) : idOf(word))
  })
