/** Runs made-up requests against made-up upstreams with the faults that were chosen. */
import { type Signal, useSignal } from "@preact/signals"
import { routingSimulate } from "../../../api/calls.generated.ts"
import type { AnswerOf } from "../../../api/client.ts"
import { withProgress } from "../../../api/progress.ts"
import { useOperation } from "../../../forms/useOperation.ts"
import { typing } from "../../../ui/handlers.ts"
import { count, duration, money, percent, visible } from "../../../ui/format.ts"
import { words } from "../../../words/routing.ts"
import { type Fault, FaultFields, faultNames, faultsOf, scenarioNames } from "./Faults.tsx"
import { type Figure, Figures } from "./Figures.tsx"
import { Panel } from "./Panel.tsx"
import { useRun } from "./run.ts"
import type { Tried } from "./tried.ts"

type Answer = AnswerOf<typeof routingSimulate>

const figuresOf = ({ comparison, simulation: own }: Answer): ReadonlyArray<Figure> => {
  const other = comparison?.simulation ?? null
  const by = comparison?.difference ?? null
  const figure = (
    name: string,
    member: "served" | "failed" | "fallbacks" | "calls" | "p50Ms" | "p95Ms" | "costUsd",
    format: (value: number) => string,
    better: Figure["better"]
  ): Figure => ({
    name,
    mine: own[member],
    other: other === null ? null : other[member],
    difference: by === null ? null : by[member],
    format,
    better
  })
  return [
    figure(words.trial.served, "served", count, "more"),
    figure(words.trial.failed, "failed", count, "less"),
    figure(words.trial.fallbacks, "fallbacks", count, "less"),
    figure(words.trial.calls, "calls", count, null),
    figure(words.trial.p50, "p50Ms", duration, "less"),
    figure(words.trial.p95, "p95Ms", duration, "less"),
    figure(words.trial.cost, "costUsd", money, "less")
  ]
}

/** Targets that are shown by name. */
const mostShown = 20

const Shares = ({ simulation }: Answer) => (
  <table class="plain-table">
    <thead>
      <tr>
        <th>{words.trial.target}</th>
        <th class="number">{words.trial.share}</th>
      </tr>
    </thead>
    <tbody>
      {simulation.targets.slice(0, mostShown).map(({ connectionId, model, provider, share }) => (
        <tr key={`${connectionId} ${model}`}>
          <th scope="row">{visible(`${provider}/${model}`)}</th>
          <td class="number">
            <meter min={0} max={1} value={share} aria-label={words.trial.share} /> {percent(share)}
          </td>
        </tr>
      ))}
    </tbody>
  </table>
)

interface FieldProperties {
  readonly requests: Signal<string>
  readonly scenario: Signal<string>
  readonly scenarios: ReadonlyArray<string>
}

const Size = ({ requests, scenario, scenarios }: FieldProperties) => (
  <div class="two">
    <div class="field">
      <label for="trial-requests">{words.trial.requests}</label>
      <input
        id="trial-requests"
        class="input"
        type="number"
        min={1}
        max={100_000}
        value={requests.value}
        onInput={typing(requests)}
      />
    </div>
    <div class="field">
      <label for="trial-scenario">{words.trial.scenario}</label>
      <select id="trial-scenario" class="input" value={scenario.value} onChange={typing(scenario)}>
        <option value="">{words.trial.noScenario}</option>
        {scenarios.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </div>
  </div>
)

type Scenario = NonNullable<NonNullable<NonNullable<Parameters<typeof routingSimulate>[0]>["body"]>["scenario"]>

export const Simulation = ({ tried }: { readonly tried: Tried }) => {
  const operation = useOperation("routingSimulate").value.data
  const faults = useSignal<ReadonlyArray<Fault>>([])
  const requests = useSignal("1000")
  const scenario = useSignal("")
  const { combo, compareWith } = tried
  const size = Number(requests.value)
  const isReady = combo !== null && Number.isInteger(size) && size >= 1
  const asked = { tried, faults: faultsOf(faults.value), size, scenario: scenario.value }
  const { run, start, stop } = useRun<Answer>(isReady ? JSON.stringify(asked) : null, (signal, tell) =>
    withProgress(
      routingSimulate,
      {
        body: {
          ...(combo === null ? {} : { combo }),
          ...(compareWith === "" ? {} : { compareWith }),
          requests: size,
          ...(scenario.value === "" ? {} : { scenario: scenario.value as Scenario }),
          faults: asked.faults
        },
        signal
      },
      tell
    )
  )
  const targets = [
    ...new Set([
      ...(run.value.answer?.simulation.targets ?? []).map(({ model, provider }) => `${provider}/${model}`),
      ...(combo?.targets ?? []).map(({ model }) => model).filter((model) => !model.startsWith("combo:"))
    ])
  ].slice(0, 100)
  return (
    <Panel
      title={words.trial.simulation}
      run={run.value}
      start={start}
      stop={stop}
      canRun={isReady}
      fields={
        <>
          <Size
            requests={requests}
            scenario={scenario}
            scenarios={operation === undefined ? [] : scenarioNames(operation)}
          />
          <FaultFields
            faults={faults.value}
            names={operation === undefined ? ["503"] : faultNames(operation)}
            targets={targets}
            onFaults={(next) => {
              faults.value = next
            }}
          />
        </>
      }
    >
      {(answer) => (
        <>
          <Figures figures={figuresOf(answer)} isCompared={answer.comparison !== undefined} />
          <h4>{words.trial.shares}</h4>
          <Shares {...answer} />
        </>
      )}
    </Panel>
  )
}
