/** Finds the connection that a word means. */
import * as Effect from "effect/Effect"
import type { ConnectionView } from "../subjects/connections/routes.ts"
import { BadArgument } from "./Failure.ts"
import { pick } from "./flags/Flags.ts"

/** The connection of a name or an id, else the only one of a provider. */
export const pickConnection = <A extends Pick<ConnectionView, "id" | "name" | "provider">>(
  all: ReadonlyArray<A>,
  word: string
) => {
  const ofProvider = all.filter(({ provider }) => provider === word)
  const [only] = ofProvider
  const isNamed = all.some(({ id, name }) => name === word || id === word)
  if (isNamed || only === undefined) return pick("connection", all, word, "gateway provider list")
  if (ofProvider.length === 1) return Effect.succeed(only)
  return new BadArgument({
    message: `'${word}' has ${ofProvider.length} connections: ${ofProvider.map(({ name }) => name).join(", ")}.`,
    hint: "Give the name of one of them."
  })
}
