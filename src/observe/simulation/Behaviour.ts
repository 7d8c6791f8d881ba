/** Behaviour of the simulated upstreams, and the targets that the names in its description mean. Pure. */
import type { Target } from "../../plane/routing/resolve/ModelResolver.ts"
import type { FaultPlan } from "./faults/Fault.ts"

/** A quota of requests: when it is used up, the upstream answers 429 and says when the window opens again. */
export interface RequestQuota {
  readonly requests: number
  readonly windowMs: number
}

export interface Behaviour {
  /** Latency in milliseconds: median and 95th percentile. */
  readonly p50Ms: number
  readonly p95Ms: number
  /** Fraction of calls answered with 503, [0, 1]. */
  readonly errorRate: number
  readonly quota: RequestQuota | null
  /** The first that is in force and strikes is what happens. */
  readonly faults: ReadonlyArray<FaultPlan>
}

export const usual: Behaviour = { p50Ms: 500, p95Ms: 1_500, errorRate: 0, quota: null, faults: [] }

/** Behaviours by the name of a target; `*` means all. */
export interface Behaviours {
  readonly errors: Readonly<Record<string, number>>
  readonly latency: Readonly<Record<string, readonly [p50Ms: number, p95Ms: number]>>
  readonly quotas: Readonly<Record<string, RequestQuota>>
  readonly faults: Readonly<Record<string, ReadonlyArray<FaultPlan>>>
}

export const noBehaviours: Behaviours = { errors: {}, latency: {}, quotas: {}, faults: {} }

export const nameOf = ({ account, model }: Target): string => `${account.spec.id}/${model}`

/** The names a target goes by, the most particular first. */
export const namesOf = (target: Target): ReadonlyArray<string> => {
  const { connection, spec } = target.account
  const name = nameOf(target)
  return [`${name}@${connection.id}`, connection.id, connection.name, name, target.model, spec.id, "*"]
}

const lookUp = <A>(named: Readonly<Record<string, A>>, names: ReadonlyArray<string>): A | undefined => {
  const name = names.find((each) => Object.hasOwn(named, each))
  return name === undefined ? undefined : named[name]
}

/** `own` before `scenario`, in each respect; faults of both. */
export const behaviourOf = (own: Behaviours, target: Target, scenario: Behaviours = noBehaviours): Behaviour => {
  const names = namesOf(target)
  const [p50Ms, p95Ms] = lookUp(own.latency, names) ?? lookUp(scenario.latency, names) ?? [usual.p50Ms, usual.p95Ms]
  return {
    p50Ms,
    p95Ms,
    errorRate: lookUp(own.errors, names) ?? lookUp(scenario.errors, names) ?? usual.errorRate,
    quota: lookUp(own.quotas, names) ?? lookUp(scenario.quotas, names) ?? usual.quota,
    faults: [...(lookUp(own.faults, names) ?? []), ...(lookUp(scenario.faults, names) ?? [])]
  }
}

/** Names that mean none of the targets, each with the field it is in. */
export const unknownNames = (
  behaviours: Behaviours,
  targets: ReadonlyArray<Target>
): ReadonlyArray<{ readonly field: string; readonly name: string }> => {
  const known = new Set(targets.flatMap(namesOf))
  return Object.entries(behaviours).flatMap(([field, named]) =>
    Object.keys(named)
      .filter((name) => !known.has(name))
      .map((name) => ({ field, name }))
  )
}
