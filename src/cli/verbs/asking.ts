/** Commands that ask one group of a running gateway. */
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import type { YieldWrap } from "effect/Utils"
import { connection, type GatewayFlags, type GroupName, target, type Target } from "../gateway/Client.ts"
import { type Service, serviceOf } from "../gateway/Service.ts"

/** An effect that a generator yields. */
export type Step = YieldWrap<Effect.Effect<unknown, unknown, unknown>>

/** Values of a command's flags, with those that say which gateway is asked. */
export type ParsedFlags<Flags extends Command.Command.Config> = Command.Command.ParseConfig<Flags & typeof connection>

/** Makes a command that asks one group of the gateway. `work` has its client, the values of the flags, and the gateway. */
export const asking = <
  const Name extends string,
  const Group extends GroupName,
  const Flags extends Command.Command.Config,
  Yielded extends Step
>(
  name: Name,
  group: Group,
  flags: Flags,
  work: (client: Service<Group>, given: ParsedFlags<Flags>, to: Target) => Generator<Yielded, unknown, never>
) =>
  Command.make(name, { ...flags, ...connection }, (parsed) =>
    Effect.gen(function* () {
      // The compiler does not see through the flags of a caller.
      const given = parsed as unknown as ParsedFlags<Flags>
      const to = yield* target(parsed as unknown as GatewayFlags)
      const client = yield* serviceOf(to, group)
      yield* Effect.gen(() => work(client, given, to))
    })
  )
