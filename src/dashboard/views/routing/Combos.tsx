/** Shows the combos, as many as are on a page, and finds others by their words. */
import { useLocation } from "preact-iso"
import type { AnswerOf } from "../../api/client.ts"
import { combosList } from "../../api/calls.generated.ts"
import { useAnswer } from "../../api/queries.ts"
import { useTyped } from "../../ui/address/address.ts"
import { typing } from "../../ui/handlers.ts"
import { Answered } from "../../ui/Answered.tsx"
import { Icon } from "../../ui/Icon.tsx"
import { State } from "../../ui/State.tsx"
import { Time } from "../../ui/Time.tsx"
import { visible } from "../../ui/format.ts"
import { placeOf } from "../../ui/address/places.ts"
import { strategies, words } from "../../words/routing.ts"

type Combo = AnswerOf<typeof combosList>["combos"][number]

const pageSize = 100
/** Targets that a row names. */
const mostNamed = 3

const Targets = ({ targets }: Pick<Combo, "targets">) => (
  <>
    {targets.length === 0 && <span class="quiet">–</span>}
    {targets
      .slice(0, mostNamed)
      .map(({ model }) => visible(model))
      .join(", ")}
    {targets.length > mostNamed && <span class="quiet"> +{targets.length - mostNamed}</span>}
  </>
)

const Row = ({ combo }: { readonly combo: Combo }) => (
  <tr>
    <th scope="row">
      <a href={placeOf(`routing/combo/${encodeURIComponent(combo.id)}`)}>{visible(combo.name)}</a>
    </th>
    <td title={strategies[combo.strategy]}>{combo.strategy}</td>
    <td>
      <Targets targets={combo.targets} />
    </td>
    <td>
      {combo.isActive ? (
        <State kind="good">{words.combos.active}</State>
      ) : (
        <State kind="quiet">{words.combos.off}</State>
      )}
    </td>
    <td class="quiet">
      <Time at={combo.updatedAt} />
    </td>
    <td>
      <span class="buttons">
        <a class="button" href={placeOf(`routing?model=${encodeURIComponent(combo.name)}`)}>
          {words.combos.where}
        </a>
        <a class="button" href={placeOf(`routing/new?from=${encodeURIComponent(combo.id)}`)}>
          {words.combos.clone}
        </a>
      </span>
    </td>
  </tr>
)

const Table = ({ combos }: { readonly combos: ReadonlyArray<Combo> }) => (
  <div class="scroller card" tabIndex={0} role="region" aria-label={words.combos.list}>
    <table class="plain-table">
      <thead>
        <tr>
          <th>{words.combos.columns.name}</th>
          <th>{words.combos.columns.strategy}</th>
          <th>{words.combos.columns.targets}</th>
          <th>{words.combos.columns.state}</th>
          <th>{words.combos.columns.changed}</th>
          <th>{words.combos.columns.actions}</th>
        </tr>
      </thead>
      <tbody>
        {combos.map((combo) => (
          <Row key={combo.id} combo={combo} />
        ))}
      </tbody>
    </table>
  </div>
)

const Create = () => (
  <a class="button main-action" href={placeOf("routing/new")}>
    <Icon name="add" /> {words.combos.create}
  </a>
)

export const Combos = () => {
  const { path, query, route } = useLocation()
  const search = query["q"] ?? ""
  const typed = useTyped({
    written: search,
    place: placeOf("routing"),
    write: (text) => {
      const rest = new URLSearchParams({ ...query, q: text })
      if (text === "") rest.delete("q")
      route(rest.size === 0 ? path : `${path}?${rest.toString()}`, true)
    }
  })
  const combos = useAnswer({
    key: ["combos", search],
    ask: (signal) =>
      combosList({ query: { search: search === "" ? undefined : search, sort: "name", limit: pageSize }, signal })
  })
  return (
    <>
      <div class="bar-of-list">
        <input
          class="input"
          type="search"
          aria-label={words.combos.search}
          placeholder={words.combos.search}
          value={typed.value}
          onInput={typing(typed)}
        />
        <Create />
      </div>
      <Answered of={combos} height={240}>
        {(answer) =>
          answer.combos.length === 0 ? (
            <div class="empty">
              <p>{search === "" ? words.combos.none : words.combos.noMatch}</p>
            </div>
          ) : (
            <>
              <Table combos={answer.combos} />
              {answer.nextCursor !== null && <p class="quiet">{words.combos.more}</p>}
            </>
          )
        }
      </Answered>
    </>
  )
}
