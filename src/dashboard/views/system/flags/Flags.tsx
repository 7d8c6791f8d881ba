/** Answers how the gateway is switched: the flags by what they are about, who set them, and what waits for a restart. */
import { useSignal } from "@preact/signals"
import { useLocation } from "preact-iso"
import { flagsClear, flagsList, systemRestart } from "../../../api/calls.generated.ts"
import { refresh, useAnswer } from "../../../api/queries.ts"
import { opening, setting } from "../../../ui/handlers.ts"
import { Answered } from "../../../ui/Answered.tsx"
import { Danger } from "../../../ui/dialogs/Danger.tsx"
import { State } from "../../../ui/State.tsx"
import { toast } from "../../../ui/toasts.tsx"
import { words } from "../../../words/system/flags.ts"
import { Empty } from "../../../ui/parts/Empty.tsx"
import { Head } from "../parts/Head.tsx"
import { Search } from "../../../ui/parts/Search.tsx"
import { shownOf, Shows } from "../../../ui/parts/Shows.tsx"
import { type Flag, FlagRow } from "./FlagRow.tsx"

const found = (all: ReadonlyArray<Flag>, text: string, isSetOnly: boolean): ReadonlyArray<Flag> => {
  const wanted = text
    .toLowerCase()
    .split(/\s+/u)
    .filter((word) => word !== "")
  return all.filter(
    ({ category, description, key, label, source }) =>
      !(isSetOnly && source === "default") &&
      wanted.every((word) => `${key} ${label} ${description} ${category}`.toLowerCase().includes(word))
  )
}

const Waiting = ({ count }: { readonly count: number }) => {
  const isAsked = useSignal(false)
  return count === 0 ? null : (
    <section class="card notice" aria-label={words.restartNow}>
      <State kind="warning">{words.restartNeeded(count)}</State>
      <button type="button" class="button danger" onClick={setting(isAsked, true)}>
        {words.restartNow}
      </button>
      <Danger
        title={words.restartNow}
        means={words.restartMeans}
        name={words.restartName}
        verb={words.restartNow}
        {...opening(isAsked)}
        run={async () => {
          await systemRestart()
          toast("good", words.restarting)
          void refresh()
        }}
      />
    </section>
  )
}

const Groups = ({ flags }: { readonly flags: ReadonlyArray<Flag> }) => (
  <>
    {Object.entries(words.categories).map(([category, name]) => {
      const those = flags.filter((flag) => flag.category === category)
      return those.length === 0 ? null : (
        <section key={category} class="card" aria-label={name}>
          <h3>{name}</h3>
          <ul class="settings">
            {those.map((flag) => (
              <FlagRow key={flag.key} flag={flag} />
            ))}
          </ul>
        </section>
      )
    })}
  </>
)

const ResetAll = ({ count }: { readonly count: number }) => {
  const isAsked = useSignal(false)
  return count === 0 ? null : (
    <>
      <button type="button" class="button danger" onClick={setting(isAsked, true)}>
        {words.resetAll}
      </button>
      <Danger
        title={words.resetAll}
        means={words.resetAllMeans(count)}
        name={words.resetAllName}
        verb={words.resetAll}
        {...opening(isAsked)}
        run={async () => {
          const { cleared } = await flagsClear()
          toast("good", words.allCleared(cleared))
          void refresh("flags")
        }}
      />
    </>
  )
}

export const Flags = () => {
  const { query } = useLocation()
  const list = useAnswer({ key: ["flags"], ask: (signal) => flagsList({ signal }) })
  const isSetOnly = shownOf(query, words.shows) === "set"
  const text = query["q"] ?? ""
  return (
    <div class="stack">
      <Head title={words.title} hint={words.hint}>
        <ResetAll count={list.value.data?.summary.overriddenByDb ?? 0} />
      </Head>
      <div class="filters">
        <Search label={words.search} placeholder={words.searchHint} />
        <Shows label={words.show} choices={words.shows} />
      </div>
      <Answered of={list} height={600}>
        {({ flags }) => {
          const those = found(flags, text, isSetOnly)
          return (
            <>
              <Waiting count={flags.filter(({ pendingRestart }) => pendingRestart).length} />
              <p role="status" class="quiet">
                {words.found(those.length)}
              </p>
              {those.length === 0 && <Empty text={isSetOnly && text === "" ? words.noneSet : words.none} />}
              <Groups flags={those} />
            </>
          )
        }}
      </Answered>
    </div>
  )
}
