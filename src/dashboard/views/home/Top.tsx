/** Shows the models, keys and combos of the last day that were asked most. */
import { useLocation } from "preact-iso"
import type { AnswerOf } from "../../api/client.ts"
import type { usageHistoryAnalytics, usageSeries } from "../../api/calls.generated.ts"
import { count, money, visible } from "../../ui/format.ts"
import { placeOf } from "../../ui/address/places.ts"
import { words } from "../../words/home.ts"

interface Row {
  readonly id: string
  readonly name: string
  readonly place: string | null
  readonly requests: number
  readonly costUsd: number
}

type Part = keyof typeof words.top.parts

const most = 6
const parts: ReadonlyArray<Part> = ["models", "keys", "combos"]

interface Properties {
  readonly analytics: AnswerOf<typeof usageHistoryAnalytics>
  /** By combo. */
  readonly series: AnswerOf<typeof usageSeries>
}

const requestsOf = (filter: string): string => `requests?q=${encodeURIComponent(filter)}`
const sum = (values: ReadonlyArray<number>): number => values.reduce((total, value) => total + value, 0)
/** A value of a filter; one with spaces is quoted. */
const quoted = (text: string): string => (/\s/.test(text) ? `"${text.replaceAll('"', "")}"` : text)

const rowsOf = (part: Part, { analytics, series }: Properties): ReadonlyArray<Row> => {
  switch (part) {
    case "models":
      return analytics.byModel
        .flatMap(({ costUsd, model, provider, requests }) => {
          // What no model has served stands among the failed.
          if (model === null || provider === null) return []
          const name = `${provider}/${model}`
          return [{ id: name, name, place: requestsOf(`model:${quoted(name)}`), requests, costUsd }]
        })
        .slice(0, most)
    case "keys":
      return analytics.byApiKey.slice(0, most).map(({ apiKeyId, costUsd, name, requests }) => ({
        id: apiKeyId ?? "",
        name: apiKeyId === null ? words.top.noKey : (name ?? words.top.gone),
        place: apiKeyId === null ? null : `keys/${apiKeyId}`,
        requests,
        costUsd
      }))
    case "combos":
      return series.series
        .filter(({ key }) => key !== null)
        .slice(0, most)
        .map(({ costUsd, key, name, requests }) => ({
          id: key ?? "",
          name: name ?? key ?? "",
          place: requestsOf(`combo:${quoted(key ?? "")}`),
          requests: sum(requests),
          costUsd: sum(costUsd)
        }))
  }
}

export const Top = (properties: Properties) => {
  const { query } = useLocation()
  const shown = parts.find((part) => part === query["top"]) ?? "models"
  const rows = rowsOf(shown, properties)
  const largest = Math.max(1, ...rows.map(({ requests }) => requests))
  return (
    <section class="card top" aria-labelledby="top">
      <div class="card-head">
        <h2 id="top">{words.top.title}</h2>
        <nav class="shows" aria-label={words.top.title}>
          {parts.map((part) => (
            <a
              key={part}
              href={part === "models" ? placeOf("") : placeOf(`?top=${part}`)}
              aria-current={part === shown ? "true" : undefined}
            >
              {words.top.parts[part]}
            </a>
          ))}
        </nav>
      </div>
      {rows.length === 0 ? (
        <p class="quiet">{words.top.none}</p>
      ) : (
        <ol class="ranks">
          {rows.map(({ costUsd, id, name, place, requests }) => (
            <li key={id}>
              <span class="rank-bar" style={{ width: `${(requests / largest) * 100}%` }} aria-hidden="true" />
              <span class="name">{place === null ? visible(name) : <a href={placeOf(place)}>{visible(name)}</a>}</span>
              <span class="quiet number">{words.top.requests(count(requests))}</span>
              <span class="number">{money(costUsd)}</span>
            </li>
          ))}
        </ol>
      )}
    </section>
  )
}
