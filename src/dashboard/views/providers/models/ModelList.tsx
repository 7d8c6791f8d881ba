/** Models with facts, prices and where each is served, in pages of the API; of one account, or of all. */
import { useLocation } from "preact-iso"
import { modelCatalogList } from "../../../api/calls.generated.ts"
import { useAnswer } from "../../../api/queries.ts"
import { Answered } from "../../../ui/Answered.tsx"
import { Pages } from "../../../ui/parts/Pages.tsx"
import { Search } from "../../../ui/parts/Search.tsx"
import { shownOf, Shows } from "../../../ui/parts/Shows.tsx"
import { Table } from "../../../ui/parts/Table.tsx"
import { State } from "../../../ui/State.tsx"
import { CopyAs } from "../../../ui/copy/CopyAs.tsx"
import { count, short, visible } from "../../../ui/format.ts"
import { placeOf } from "../../../ui/address/places.ts"
import { words } from "../../../words/providerModels.ts"
import type { Model } from "./model.ts"
import { SetPrice } from "./SetPrice.tsx"

const { columns, shows } = words.models
const dropped = ["page"]
const pageSize = 50
const accountPageSize = 20
const mostNamed = 2

const choices = { all: shows.all, priced: shows.priced, unpriced: shows.unpriced }

const abilities = ["vision", "toolCalling", "reasoning", "structuredOutput"] as const

const Can = ({ capabilities }: Pick<Model, "capabilities">) => (
  <>
    {abilities
      .filter((ability) => capabilities?.[ability] === true)
      .map((ability) => (
        <span key={ability} class="chip">
          {words.models.can[ability]}
        </span>
      ))}
  </>
)

/** A price of a million tokens, with as few digits as say it. */
const perMillion = (usd: number): string => `$${Number(usd.toPrecision(6))}`

const Price = ({ price, priceSource }: Pick<Model, "price" | "priceSource">) => {
  if (price === null) return <State kind="warning">{words.models.noPrice}</State>
  const isOfTokens = price.input > 0 || price.output > 0
  const isFree = Object.keys(price).every((name) => name === "input" || name === "output")
  return (
    <span class="price">
      {isOfTokens || isFree
        ? words.models.price(perMillion(price.input), perMillion(price.output))
        : words.models.otherUnit}
      {priceSource !== null && <span class="quiet"> {words.models.sources[priceSource]}</span>}
    </span>
  )
}

const Served = ({ health }: Pick<Model, "health">) => {
  const down = health.filter(({ state }) => state !== "available").length
  return (
    <span class="served">
      {health.length <= mostNamed
        ? health.map(({ connectionId, name, state }) => (
            <a key={connectionId} href={placeOf(`providers/${encodeURIComponent(connectionId)}`)}>
              <State kind={state === "available" ? "good" : state === "inactive" ? "quiet" : "warning"}>
                {visible(name)}
              </State>
            </a>
          ))
        : words.models.accounts(health.length)}
      {down > 0 && health.length > mostNamed && <span class="quiet"> {words.models.down(down)}</span>}
    </span>
  )
}

const Row = ({ hasAccount, model }: { readonly model: Model; readonly hasAccount: boolean }) => (
  <tr>
    <td class="model-name">
      <code>{visible(model.id)}</code>
      {model.name !== null && model.name !== model.model && <span class="quiet">{visible(model.name)}</span>}
    </td>
    <td class="number">{model.contextLength === null ? "–" : short(model.contextLength)}</td>
    <td class="number">{model.maxOutputTokens === null ? "–" : short(model.maxOutputTokens)}</td>
    <td>
      <Can capabilities={model.capabilities} />
    </td>
    <td>
      <Price price={model.price} priceSource={model.priceSource} />
    </td>
    {hasAccount && (
      <td>
        <Served health={model.health} />
      </td>
    )}
    <td>
      <SetPrice model={model} />
    </td>
  </tr>
)

/** `connectionId` null: of all accounts. */
export const ModelList = ({ connectionId }: { readonly connectionId: string | null }) => {
  const { query } = useLocation()
  const shown = shownOf(query, choices)
  const isOfAll = connectionId === null
  const asked = {
    kind: "model",
    limit: isOfAll ? pageSize : accountPageSize,
    search: query["q"]?.slice(0, 200),
    cursor: query["page"],
    connectionId: connectionId ?? undefined,
    priced: shown === "all" ? undefined : String(shown === "priced")
  }
  const models = useAnswer({
    key: ["models", asked],
    ask: (signal) => modelCatalogList({ query: asked, signal })
  })
  const isFiltered = shown !== "all" || (query["q"] ?? "") !== ""
  return (
    <>
      <div class="filters">
        <Search label={words.models.search} dropped={dropped} />
        <Shows label={shows.label} choices={choices} dropped={dropped} />
      </div>
      <Answered of={models} height={240}>
        {({ models: page, nextCursor, total }) =>
          page.length === 0 ? (
            <p class="quiet">{isFiltered ? words.models.none : words.models.noneYet}</p>
          ) : (
            <>
              <p class="quiet" role="status">
                {words.models.total(count(total), total)}
              </p>
              <Table
                label={words.models.label}
                columns={[
                  columns.model,
                  columns.context,
                  columns.output,
                  columns.can,
                  columns.price,
                  ...(isOfAll ? [columns.served] : []),
                  columns.actions
                ]}
                numbers={[1, 2]}
              >
                {page.map((model) => (
                  <Row key={model.id} model={model} hasAccount={isOfAll} />
                ))}
              </Table>
              <Pages name="page" before={query["page"] === undefined ? null : ""} next={nextCursor} />
              {isOfAll && (
                <CopyAs call={modelCatalogList} query={{ kind: "model", search: asked.search, priced: asked.priced }} />
              )}
            </>
          )
        }
      </Answered>
    </>
  )
}
