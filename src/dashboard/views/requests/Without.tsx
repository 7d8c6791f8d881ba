/** Shows what would become of such requests if a target were away: as many of them simulated twice, once with it and once without. */
import { useSignal } from "@preact/signals"
import { useEffect, useId, useRef } from "preact/hooks"
import { routingSimulate, type routingDecision } from "../../api/calls.generated.ts"
import type { AnswerOf } from "../../api/client.ts"
import { CopyAs } from "../../ui/copy/CopyAs.tsx"
import { Failure } from "../../ui/Failure.tsx"
import { count, duration, money, percent, visible } from "../../ui/format.ts"
import { useWork } from "../../ui/useWork.ts"
import { words } from "../../words/requests.ts"

type Decided = AnswerOf<typeof routingDecision>["decision"]
type Simulation = AnswerOf<typeof routingSimulate>["simulation"]

const requests = 1_000
const mostShares = 8

const namesOf = ({ candidates }: Decided): ReadonlyArray<string> => [
  ...new Set(candidates.map(({ model, provider }) => `${provider}/${model}`))
]

const maybe = (value: number | null, format: (value: number) => string): string =>
  value === null ? "–" : format(value)

const figures: ReadonlyArray<readonly [name: string, of: (simulation: Simulation) => string]> = [
  [words.without.served, ({ served }) => count(served)],
  [words.without.failed, ({ failed }) => count(failed)],
  [words.without.p50, ({ p50Ms }) => maybe(p50Ms, duration)],
  [words.without.p95, ({ p95Ms }) => maybe(p95Ms, duration)],
  [words.without.cost, ({ costUsd }) => money(costUsd)]
]

const shareOf = ({ targets }: Simulation, name: string): number =>
  targets.filter(({ model, provider }) => `${provider}/${model}` === name).reduce((sum, { share }) => sum + share, 0)

interface Both {
  readonly target: string
  readonly now: Simulation
  readonly without: Simulation
}

const Compared = ({ now, target, without }: Both) => {
  const names = [...new Set(without.targets.map(({ model, provider }) => `${provider}/${model}`))]
    .toSorted((one, other) => shareOf(without, other) - shareOf(without, one))
    .slice(0, mostShares)
  return (
    <div class="scroller" tabIndex={0} role="region" aria-label={words.without.title}>
      <table class="plain-table">
        <thead>
          <tr>
            <th>{words.without.of(count(requests))}</th>
            <th class="number">{words.without.now}</th>
            <th class="number">{words.without.without(visible(target))}</th>
          </tr>
        </thead>
        <tbody>
          {figures.map(([name, of]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td class="number">{of(now)}</td>
              <td class="number">{of(without)}</td>
            </tr>
          ))}
          {names.map((name) => (
            <tr key={name}>
              <th scope="row">{words.without.share(visible(name))}</th>
              <td class="number">{percent(shareOf(now, name))}</td>
              <td class="number">{percent(shareOf(without, name))}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface Properties {
  readonly decision: Decided
  /** Tokens of the request, which the made-up ones have, too; null: not known. */
  readonly tokens: { readonly in: number; readonly out: number } | null
}

export const Without = ({ decision, tokens }: Properties) => {
  const id = useId()
  const names = namesOf(decision)
  const failed = decision.attempts.find(({ outcome }) => outcome !== "completed")
  const target = useSignal(
    failed === undefined ? (decision.chosen?.split("@")[0] ?? names[0] ?? "") : `${failed.provider}/${failed.model}`
  )
  const { isBusy, problem: error, run } = useWork([], true)
  const both = useSignal<Both | null>(null)
  const leaving = useRef<AbortController | null>(null)
  useEffect(() => () => leaving.current?.abort(), [])
  if (names.length === 0) return null
  const size = tokens === null ? {} : { promptTokens: tokens.in, outputTokens: tokens.out }
  const body = { model: decision.requestedModel, requests, seed: 1, ...size }
  const away = { ...body, faults: { [target.value]: [{ fault: "503" as const }] } }
  const simulate = async (): Promise<void> => {
    const { signal } = (leaving.current = new AbortController())
    await run(async () => {
      const [now, without] = await Promise.all([
        routingSimulate({ body, signal }),
        routingSimulate({ body: away, signal })
      ])
      both.value = { target: target.value, now: now.simulation, without: without.simulation }
    })
  }
  return (
    <section class="stack" aria-label={words.without.title}>
      <div class="inline-form">
        <label for={id}>{words.without.label}</label>
        <select
          id={id}
          class="input"
          value={target.value}
          onChange={(event) => {
            target.value = event.currentTarget.value
          }}
        >
          {names.map((name) => (
            <option key={name} value={name}>
              {visible(name)}
            </option>
          ))}
        </select>
        <button type="button" class="button" disabled={isBusy.value} onClick={() => void simulate()}>
          {isBusy.value ? words.without.busy : words.without.ask}
        </button>
      </div>
      {error.value !== null && <Failure error={error.value} retry={() => void simulate()} />}
      {both.value !== null && (
        <>
          <Compared {...both.value} />
          <CopyAs call={routingSimulate} body={away} />
        </>
      )}
    </section>
  )
}
