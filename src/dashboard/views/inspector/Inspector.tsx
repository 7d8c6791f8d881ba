/** Answers what was really sent, what fills the context, and who broke the cache. It is there on the gateway's own machine only; elsewhere it says why. */
import { useRoute } from "preact-iso"
import { inspectorModes } from "../../api/calls.generated.ts"
import { useAnswer } from "../../api/queries.ts"
import { Answered } from "../../ui/Answered.tsx"
import { Copyable } from "../../ui/copy/Copyable.tsx"
import { State } from "../../ui/State.tsx"
import { Tabs } from "../../ui/Tabs.tsx"
import { words } from "../../words/inspector.ts"
import { Agents } from "./Agents.tsx"
import { Breaks } from "./Breaks.tsx"
import { Capture } from "./Capture.tsx"
import { inspectorPlace } from "./places.ts"
import { Records } from "./Records.tsx"
import { Sessions } from "./sessions/Sessions.tsx"

const Elsewhere = () => (
  <section class="card stack">
    <h2>{words.elsewhere.title}</h2>
    <p>{words.elsewhere.why}</p>
    <p>{words.elsewhere.how}</p>
    <Copyable text={words.elsewhere.command} />
  </section>
)

const areas = {
  "": { title: words.area.live, View: Records },
  sessions: { title: words.area.sessions, View: Sessions },
  cache: { title: words.area.cache, View: Breaks },
  capture: { title: words.area.capture, View: Capture },
  agents: { title: words.area.agents, View: Agents }
} as const

type Area = keyof typeof areas

const isArea = (name: string): name is Area => Object.hasOwn(areas, name)

export const Inspector = () => {
  const { id = "" } = useRoute().params
  const area = isArea(id) ? id : ""
  const modes = useAnswer({ key: ["capture-modes"], ask: (signal) => inspectorModes({ signal }) })
  const { View } = areas[area]
  const isElsewhere = modes.value.error?.code === "loopback_only"
  return (
    <div class="inspector">
      <header class="view-head">
        <h1>{words.title}</h1>
        {modes.value.data?.gateway.enabled === true && (
          <State kind="trial" icon="live">
            {words.modes.gateway.name}
          </State>
        )}
      </header>
      {isElsewhere ? (
        <Elsewhere />
      ) : (
        <>
          <Tabs
            label={words.areas}
            shown={area}
            tabs={Object.entries(areas).map(([name, { title }]) => ({ name, title, url: inspectorPlace(name) }))}
          />
          <Answered of={modes} height={320}>
            {() => <View />}
          </Answered>
        </>
      )}
    </div>
  )
}
