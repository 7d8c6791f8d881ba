/** Faults in each scenario, and their targets. Pure data; the targets are those of the simulation. */
import type { CombinedScenario, FaultName, ScenarioName } from "../../contract/domain/SimulatedFaults.ts"
import type { Target } from "../../plane/routing/resolve/ModelResolver.ts"
import { type Behaviours, noBehaviours } from "./Behaviour.ts"
import { faults } from "./faults/Catalogue.ts"
import { always, type FaultPlan } from "./faults/Fault.ts"

/** Behaviour of one account in a scenario. */
interface Part {
  readonly faults?: ReadonlyArray<FaultPlan>
  readonly quota?: Behaviours["quotas"][string]
  readonly latency?: Behaviours["latency"][string]
}

export interface Scenario {
  readonly about: string
  /** The answers are streamed. */
  readonly streamed: boolean
  /** Returns the behaviour by the account's place among those of the targets. */
  readonly part: (place: number, accounts: number) => Part
}

const nothing: Part = {}

const first =
  (part: Part): Scenario["part"] =>
  (place) =>
    place === 0 ? part : nothing

const all =
  (part: Part): Scenario["part"] =>
  () =>
    part

const whole = (about: string, part: Scenario["part"]): Scenario => ({ about, streamed: false, part })

const limit = { requests: 12, windowMs: 10_000 }

const combined: Readonly<Record<CombinedScenario, Scenario>> = {
  healthy: whole("all targets are healthy", all(nothing)),
  "slow-first": whole("the first is ten times slower", first({ latency: [5_000, 10_000] })),
  "errors-everywhere": whole("one call of five fails, everywhere", all({ faults: [{ ...always("503"), rate: 0.2 }] })),
  "first-down-a-while": whole(
    "the first is down from second 10 on, for 15 seconds",
    first({ faults: [{ ...always("connection-refused"), fromMs: 10_000, forMs: 15_000 }] })
  ),
  "first-flapping": whole(
    "the first is down for 2 seconds of every 4",
    first({ faults: [{ ...always("503"), forMs: 2_000, everyMs: 4_000 }] })
  ),
  "first-limited": whole("the first serves 12 requests in 10 seconds", first({ quota: limit })),
  "first-unreliable": whole("half of the first's calls fail", first({ faults: [{ ...always("500"), rate: 0.5 }] })),
  "first-cuts-some": {
    about: "one streamed answer of five of the first breaks off after content",
    streamed: true,
    part: first({ faults: [{ ...always("cut-mid-text"), rate: 0.2 }] })
  },
  "dies-midway": whole(
    "the first's account is suspended from second 10 on",
    first({ faults: [{ ...always("403-banned"), fromMs: 10_000 }] })
  ),
  "two-in-trouble": whole("the first has no credits, the second fails half of its calls", (place) =>
    place === 0 ? { faults: [always("402")] } : place === 1 ? { faults: [{ ...always("503"), rate: 0.5 }] } : nothing
  ),
  "all-but-last-down": whole("all targets but the last are down", (place, accounts) =>
    place === accounts - 1 ? nothing : { faults: [always("connection-refused")] }
  ),
  "all-limited": whole("each serves 12 requests in 10 seconds", all({ quota: limit })),
  "all-rate-limited": whole("all targets answer 429", all({ faults: [always("429-retry-after-seconds")] })),
  "all-exhausted": whole("all targets are used up until tomorrow", all({ faults: [always("429-daily-quota")] })),
  "all-down": whole("all targets answer 503", all({ faults: [always("503")] })),
  "all-refuse-the-request": whole("all targets refuse the request as wrong", all({ faults: [always("400")] }))
}

const isFault = (name: ScenarioName): name is FaultName => Object.hasOwn(faults, name)

export const scenarioOf = (name: ScenarioName): Scenario => {
  if (!isFault(name)) return combined[name]
  const { about, midway } = faults[name]
  return {
    about: `the first account has a fault: ${about}`,
    streamed: midway === true,
    part: first({ faults: [always(name)] })
  }
}

/** The scenario as behaviours of these targets. Who is first is an account, with all its models. */
export const behavioursIn = ({ part }: Scenario, targets: ReadonlyArray<Target>): Behaviours => {
  const accounts = [...new Set(targets.map(({ account }) => account.connection.id))]
  const parts = accounts.map((id, place) => [id, part(place, accounts.length)] as const)
  const named = <A>(read: (part: Part) => A | undefined): Readonly<Record<string, A>> =>
    Object.fromEntries(
      parts.flatMap(([id, each]) => {
        const value = read(each)
        return value === undefined ? [] : [[id, value] as const]
      })
    )
  return {
    ...noBehaviours,
    faults: named((each) => each.faults),
    quotas: named(({ quota }) => quota),
    latency: named(({ latency }) => latency)
  }
}
