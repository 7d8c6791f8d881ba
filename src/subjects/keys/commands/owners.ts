/** Flags of `gateway key add` and `key edit` that say whose a key is. */
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { ownerOf, teamIdOf, userIdOf } from "../../../cli/finding/pickOwner.ts"
import type { Target } from "../../../cli/gateway/Client.ts"

export const owners = {
  user: Options.text("user").pipe(
    Options.withDescription("The person it belongs to, by name, e-mail address or id; 'none'."),
    Options.optional
  ),
  team: Options.text("team").pipe(
    Options.withDescription("The team it belongs to, by name or id; 'none'."),
    Options.optional
  )
}

export const ownerNames = { userId: "--user", teamId: "--team" }

interface GivenOwners {
  readonly user: Option.Option<string>
  readonly team: Option.Option<string>
}

export const hasOwner = ({ team, user }: GivenOwners): boolean => Option.isSome(user) || Option.isSome(team)

/** Ids of the owners that the flags name. */
export const ownersOf = (to: Target, { team, user }: GivenOwners) =>
  Effect.gen(function* () {
    const userId = yield* ownerOf(user, (word) => userIdOf(to, word))
    const teamId = yield* ownerOf(team, (word) => teamIdOf(to, word))
    return { ...(userId === undefined ? {} : { userId }), ...(teamId === undefined ? {} : { teamId }) }
  })
