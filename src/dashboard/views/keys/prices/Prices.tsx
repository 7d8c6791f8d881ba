/** Shows what models cost and who says so, the ones first that were used without a price. */
import { useSignal } from "@preact/signals"
import type { AnswerOf } from "../../../api/client.ts"
import { modelCatalogList, pricingGet, usageHistoryAnalytics } from "../../../api/calls.generated.ts"
import { useAnswer } from "../../../api/queries.ts"
import { Answered } from "../../../ui/Answered.tsx"
import { CopyAs } from "../../../ui/copy/CopyAs.tsx"
import { State } from "../../../ui/State.tsx"
import { count, dayName, money, visible } from "../../../ui/format.ts"
import { placeOf } from "../../../ui/address/places.ts"
import { words as all } from "../../../words/keysMoney.ts"
import { Listed } from "../Listed.tsx"
import { PriceDialog } from "./PriceDialog.tsx"
import type { Price, PricedModel } from "./setPrice.ts"

const words = all.prices
type CatalogModel = AnswerOf<typeof modelCatalogList>["models"][number]

const pageSize = 50

interface Chosen {
  readonly of: PricedModel
  readonly present: Price | null
}

interface ChoiceProperties {
  readonly choose: (chosen: Chosen) => void
}

const Unpriced = ({ choose }: ChoiceProperties) => {
  const usage = useAnswer({
    key: ["analytics", "30d"],
    ask: (signal) => usageHistoryAnalytics({ query: { range: "30d" }, signal })
  })
  return (
    <section class="card stack" aria-label={words.without}>
      <h2>{words.without}</h2>
      <Answered of={usage} height={80}>
        {({ byModel }) => {
          const without = byModel.flatMap(({ model, provider, unpriced }) =>
            unpriced > 0 && model !== null && provider !== null ? [{ model, provider, unpriced }] : []
          )
          return without.length === 0 ? (
            <State kind="good">{words.allPriced}</State>
          ) : (
            <>
              <p class="quiet">{words.withoutHint}</p>
              <ul class="unpriced">
                {without.map(({ model, provider, unpriced }) => (
                  <li key={`${provider}/${model}`}>
                    <State kind="warning">{visible(`${provider}/${model}`)}</State>
                    <span class="quiet">
                      {count(unpriced)} {all.bill.requests}
                    </span>
                    <button
                      type="button"
                      class="button"
                      aria-label={`${words.set}: ${provider}/${model}`}
                      onClick={() => choose({ of: { provider, model }, present: null })}
                    >
                      {words.set}
                    </button>
                  </li>
                ))}
              </ul>
            </>
          )
        }}
      </Answered>
    </section>
  )
}

const pricedOf = ({ id, provider }: CatalogModel): PricedModel | null =>
  provider === null || !id.startsWith(`${provider}/`) ? null : { provider, model: id.slice(provider.length + 1) }

const Source = ({ model: { priceDated, priceSource } }: { readonly model: CatalogModel }) => {
  if (priceSource === null) return <State kind="warning">{words.unknown}</State>
  return (
    <>
      {priceSource === "override" ? (
        <State kind="trial">{words.sources[priceSource]}</State>
      ) : (
        words.sources[priceSource]
      )}{" "}
      {priceDated !== null && <span class="quiet">{words.of(dayName(priceDated.slice(0, 10)))}</span>}
    </>
  )
}

const amount = (usd: number | undefined): string => (usd === undefined ? "–" : money(usd))

const Row = ({ choose, model }: ChoiceProperties & { readonly model: CatalogModel }) => {
  const of = pricedOf(model)
  return (
    <tr>
      <th scope="row">{visible(model.id)}</th>
      <td class="number">{amount(model.price?.input)}</td>
      <td class="number">{amount(model.price?.output)}</td>
      <td class="number">{amount(model.price?.cached)}</td>
      <td class="nowrap">
        <Source model={model} />
      </td>
      <td>
        {of !== null && (
          <button
            type="button"
            class="button"
            aria-label={`${model.price === null ? words.set : words.change}: ${model.id}`}
            onClick={() => choose({ of, present: model.price })}
          >
            {model.price === null ? words.set : words.change}
          </button>
        )}
      </td>
    </tr>
  )
}

const tableName = ["catalog", "prices"] as const

const Models = ({ choose }: ChoiceProperties) => (
  <section class="stack" aria-label={words.all}>
    <Listed<CatalogModel>
      title={words.all}
      searchLabel={words.search}
      moreLabel={words.more}
      name={tableName}
      height={320}
      ask={async (asked, signal) => {
        const found = await modelCatalogList({ query: { ...asked, sort: "-kind", limit: pageSize }, signal })
        const items = found.models.filter(({ kind }) => kind === "model")
        // By their kind models are the first; behind them nothing has a price of its own.
        return { items, nextCursor: items.length < found.models.length ? null : (found.nextCursor ?? null) }
      }}
      empty={(isSearched) => (
        <>
          <p>{isSearched ? words.none : words.noModels}</p>
          {!isSearched && (
            <a class="button" href={placeOf("providers/add")}>
              {words.toProviders}
            </a>
          )}
        </>
      )}
    >
      {(found) => (
        <>
          <p class="quiet">{words.perMillion}</p>
          <div class="scroller card" tabIndex={0} role="region" aria-label={words.list}>
            <table class="plain-table">
              <thead>
                <tr>
                  <th>{words.columns.model}</th>
                  <th class="number">{words.columns.input}</th>
                  <th class="number">{words.columns.output}</th>
                  <th class="number">{words.columns.cached}</th>
                  <th>{words.columns.source}</th>
                  <th>{words.columns.actions}</th>
                </tr>
              </thead>
              <tbody>
                {found.map((model) => (
                  <Row key={model.id} model={model} choose={choose} />
                ))}
              </tbody>
            </table>
          </div>
        </>
      )}
    </Listed>
    <CopyAs call={pricingGet} query={{ includeSources: true }} />
  </section>
)

export const Prices = () => {
  const chosen = useSignal<Chosen | null>(null)
  const choose = (next: Chosen): void => {
    chosen.value = next
  }
  return (
    <>
      <Unpriced choose={choose} />
      <Models choose={choose} />
      {chosen.value !== null && (
        <PriceDialog
          {...chosen.value}
          onClose={() => {
            chosen.value = null
          }}
        />
      )}
    </>
  )
}
