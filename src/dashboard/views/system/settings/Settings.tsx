/** Answers what is set and by whom: every setting beside its default, searched, and changed in its place. */
import { useMemo } from "preact/hooks"
import { useLocation } from "preact-iso"
import type { AnswerOf } from "../../../api/client.ts"
import { gatewaySettingsOrigins } from "../../../api/calls.generated.ts"
import { useAnswer } from "../../../api/queries.ts"
import { type Bodies, loadBodies } from "../../../forms/operations.ts"
import { Answered } from "../../../ui/Answered.tsx"
import { words } from "../../../words/system/settings.ts"
import { State } from "../../../ui/State.tsx"
import { Empty } from "../../../ui/parts/Empty.tsx"
import { Head } from "../parts/Head.tsx"
import { withQuery } from "../../../ui/parts/Pages.tsx"
import { Search } from "../../../ui/parts/Search.tsx"
import { shownOf, Shows } from "../../../ui/parts/Shows.tsx"
import { schemaAt, SettingRow } from "./SettingRow.tsx"
import { grouped, inWords, type Origin } from "./value.ts"
import { Variables } from "./Variables.tsx"

type Origins = AnswerOf<typeof gatewaySettingsOrigins>

interface Properties {
  readonly origins: Origins
  readonly bodies: Bodies
  readonly text: string
  readonly isSetOnly: boolean
  /** One heading alone; empty: all. */
  readonly group: string
}

type Group = readonly [string, ReadonlyArray<Origin>]

const mostNames = 4

/** All headings, to choose one of: a hundred rows are too many to read. */
const Cards = ({ groups }: { readonly groups: ReadonlyArray<Group> }) => {
  const { path, query } = useLocation()
  return (
    <ul class="group-cards">
      {groups.map(([group, those]) => {
        const set = those.filter(({ source }) => source !== "default").length
        return (
          <li key={group}>
            <a href={withQuery(path, query, { group })}>
              <span class="card-head">
                <strong>{group}</strong>
                {set > 0 && <State kind="trial">{words.setIn(set)}</State>}
              </span>
              <span class="quiet">{words.found(those.length)}</span>
              <span class="names">
                {those
                  .slice(0, mostNames)
                  .map(({ name }) => inWords(name.slice(name.lastIndexOf(".") + 1)))
                  .join(", ")}
                {those.length > mostNames ? " …" : ""}
              </span>
            </a>
          </li>
        )
      })}
    </ul>
  )
}

const Rows = ({ bodies, groups }: { bodies: Bodies; groups: ReadonlyArray<Group> }) => (
  <>
    {groups.map(([name, those]) => (
      <section key={name} class="card" aria-label={name}>
        <h3>{name}</h3>
        <ul class="settings">
          {those.map((origin) => (
            <SettingRow
              key={`${origin.operation} ${origin.name}`}
              origin={origin}
              schema={schemaAt(bodies[origin.operation], origin.name)}
            />
          ))}
        </ul>
      </section>
    ))}
  </>
)

const Groups = ({ bodies, group, isSetOnly, origins: { settings }, text }: Properties) => {
  const { path, query } = useLocation()
  const groups = useMemo(() => {
    const describe = ({ name, operation }: Origin): string => {
      const schema = schemaAt(bodies[operation], name)
      return `${schema?.title ?? ""} ${schema?.description ?? ""}`
    }
    const all = grouped(settings, describe, { text, isSetOnly })
    return group === "" ? all : all.filter(([name]) => name === group)
  }, [bodies, group, isSetOnly, settings, text])
  const found = groups.reduce((sum, [, those]) => sum + those.length, 0)
  const isWhole = text === "" && !isSetOnly && group === ""
  return (
    <>
      <p role="status" class="quiet">
        {words.found(found)}
      </p>
      {group !== "" && (
        <p>
          <a href={withQuery(path, query, { group: "" })}>{words.allGroups}</a>
        </p>
      )}
      {found === 0 && <Empty text={isSetOnly && text === "" ? words.noneSet : words.none} />}
      {isWhole ? <Cards groups={groups} /> : <Rows groups={groups} bodies={bodies} />}
    </>
  )
}

export const Settings = () => {
  const { query } = useLocation()
  const origins = useAnswer({ key: ["origins"], ask: (signal) => gatewaySettingsOrigins({ signal }) })
  const bodies = useAnswer({ key: ["bodies"], ask: loadBodies })
  const text = query["q"] ?? ""
  const shown = shownOf(query, words.shows)
  return (
    <div class="stack">
      <Head title={words.title} hint={words.hint} />
      <div class="filters">
        <Search label={words.search} placeholder={words.searchHint} />
        <Shows label={words.show} choices={words.shows} />
      </div>
      <Answered of={origins} height={600}>
        {(all) =>
          shown === "variables" ? (
            <Variables variables={all.variables} text={text} />
          ) : (
            <Answered of={bodies} height={600}>
              {(schemas) => (
                <Groups
                  origins={all}
                  bodies={schemas}
                  text={text}
                  isSetOnly={shown === "set"}
                  group={query["group"] ?? ""}
                />
              )}
            </Answered>
          )
        }
      </Answered>
    </div>
  )
}
