/** How faults are written on the command line: `one=503:0.3@10+5/20`. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { SimulateInput } from "../../../api/Groups/Routing.ts"
import { FaultName, ScenarioName } from "../../../domain/SimulatedFaults.ts"
import { BadArgument } from "../../Failure.ts"

type Faults = NonNullable<SimulateInput["faults"]>
type Plan = Faults[string][number]

export const shape =
  "name=kind, name=kind:0.3 (part of the calls) or name=kind@10+5/20 (from second 10, for 5, every 20)"

/** Names may hold the sign, kinds and numbers never do. */
const pattern = /^(.+)=([^=:@]+)(?::([\d.]+))?(?:@([\d.]+)(?:\+([\d.]+)(?:\/([\d.]+))?)?)?$/

const isFault = (kind: string): kind is FaultName => FaultName.literals.some((known) => known === kind)

const msOf = (seconds: string): number => Math.round(Number(seconds) * 1_000)

const planOf = (text: string): Effect.Effect<readonly [name: string, plan: Plan], BadArgument> => {
  const [, name, kind, rate, from, length, every] = pattern.exec(text) ?? []
  if (name === undefined || kind === undefined) {
    return new BadArgument({ message: `--fault: '${text}' is not of the form ${shape}.` })
  }
  if (!isFault(kind)) {
    return new BadArgument({
      message: `--fault: '${kind}' is no fault; it is one of ${FaultName.literals.join(", ")}.`
    })
  }
  return Effect.succeed([
    name,
    {
      fault: kind,
      ...(rate === undefined ? {} : { rate: Number(rate) }),
      ...(from === undefined ? {} : { fromMs: msOf(from) }),
      ...(length === undefined ? {} : { forMs: msOf(length) }),
      ...(every === undefined ? {} : { everyMs: msOf(every) })
    }
  ])
}

const isScenario = (name: string): name is ScenarioName => ScenarioName.literals.some((known) => known === name)

export const scenarioOf = (
  given: Option.Option<string>
): Effect.Effect<{ readonly scenario?: ScenarioName }, BadArgument> => {
  if (Option.isNone(given)) return Effect.succeed({})
  const name = given.value
  if (isScenario(name)) return Effect.succeed({ scenario: name })
  const known = ScenarioName.literals.join(", ")
  return new BadArgument({ message: `--scenario: '${name}' is no scenario; it is one of ${known}.` })
}

/** Several of one target are kept in their order. */
export const faultsOf = (texts: ReadonlyArray<string>): Effect.Effect<Faults, BadArgument> =>
  Effect.map(Effect.forEach(texts, planOf), (plans) => {
    const byName = new Map<string, ReadonlyArray<Plan>>()
    for (const [name, plan] of plans) byName.set(name, [...(byName.get(name) ?? []), plan])
    return Object.fromEntries(byName)
  })
