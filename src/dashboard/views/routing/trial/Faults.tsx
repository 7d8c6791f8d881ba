/** Faults of a simulation: what goes wrong, at whom, and how often; all names are those that the API takes. */
import type { AnswerOf } from "../../../api/client.ts"
import type { routingSimulate } from "../../../api/calls.generated.ts"
import type { FieldSchema, Operation } from "../../../forms/operations.ts"
import { Icon } from "../../../ui/Icon.tsx"
import { visible } from "../../../ui/format.ts"
import { words } from "../../../words/routing.ts"

export interface Fault {
  /** Key of this page only. */
  readonly key: number
  readonly fault: string
  /** Name of a target; `*`: all. */
  readonly target: string
  /** Percent of the calls, as typed. */
  readonly percent: string
}

const textsIn = (values: ReadonlyArray<unknown> | undefined): ReadonlyArray<string> =>
  (values ?? []).filter((value) => typeof value === "string")

const inner = (schema: FieldSchema | undefined): FieldSchema | undefined =>
  typeof schema?.additionalProperties === "object" ? schema.additionalProperties : undefined

export const faultNames = ({ body }: Operation): ReadonlyArray<string> =>
  textsIn(inner(body?.properties?.["faults"])?.items?.properties?.["fault"]?.enum)

export const scenarioNames = ({ body }: Operation): ReadonlyArray<string> =>
  textsIn(body?.properties?.["scenario"]?.enum)

type Faults = NonNullable<NonNullable<NonNullable<Parameters<typeof routingSimulate>[0]>["body"]>["faults"]>

/** Gives faults as the API takes them, by target. */
export const faultsOf = (faults: ReadonlyArray<Fault>): Faults => {
  const byTarget: Record<string, Array<object>> = {}
  for (const { fault, percent, target } of faults) {
    const rate = Math.min(100, Math.max(0, Number(percent) || 0)) / 100
    byTarget[target] = [...(byTarget[target] ?? []), { fault, rate }]
  }
  return byTarget as unknown as Faults
}

export type Simulated = AnswerOf<typeof routingSimulate>["simulation"]["targets"][number]

interface Properties {
  readonly faults: ReadonlyArray<Fault>
  readonly names: ReadonlyArray<string>
  /** Names of targets to choose from. */
  readonly targets: ReadonlyArray<string>
  readonly onFaults: (faults: ReadonlyArray<Fault>) => void
}

let lastKey = 0

export const FaultFields = ({ faults, names, onFaults, targets }: Properties) => {
  const change = (index: number, part: Partial<Fault>): void => {
    const fault = faults[index]
    if (fault !== undefined) onFaults(faults.with(index, { ...fault, ...part }))
  }
  return (
    <div class="faults">
      {faults.map((fault, index) => (
        <div key={fault.key} class="fault">
          <select
            class="input"
            aria-label={words.trial.faultName(index + 1)}
            value={fault.fault}
            onChange={(event) => change(index, { fault: event.currentTarget.value })}
          >
            {names.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
          <select
            class="input"
            aria-label={words.trial.faultTarget(index + 1)}
            value={fault.target}
            onChange={(event) => change(index, { target: event.currentTarget.value })}
          >
            <option value="*">{words.trial.everybody}</option>
            {[...new Set([...targets, ...(fault.target === "*" ? [] : [fault.target])])].map((name) => (
              <option key={name} value={name}>
                {visible(name)}
              </option>
            ))}
          </select>
          <input
            class="input"
            type="number"
            min={0}
            max={100}
            aria-label={words.trial.faultPart(index + 1)}
            value={fault.percent}
            onInput={(event) => change(index, { percent: event.currentTarget.value })}
          />
          <span aria-hidden="true">%</span>
          <button
            type="button"
            class="button plain"
            aria-label={words.trial.removeFault(index + 1)}
            onClick={() => onFaults(faults.toSpliced(index, 1))}
          >
            <Icon name="close" />
          </button>
        </div>
      ))}
      <button
        type="button"
        class="button"
        onClick={() => onFaults([...faults, { key: ++lastKey, fault: "503", target: "*", percent: "20" }])}
      >
        <Icon name="add" /> {words.trial.addFault}
      </button>
    </div>
  )
}
