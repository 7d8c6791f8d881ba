/** Answers which accounts work, what is left of them, and which models they have at what price. */
import type { ComponentChildren } from "preact"
import { useLocation, useRoute } from "preact-iso"
import { Icon } from "../../ui/Icon.tsx"
import { Tabs } from "../../ui/Tabs.tsx"
import { placeOf } from "../../ui/address/places.ts"
import { words } from "../../words/providers.ts"
import { Account } from "./account/Account.tsx"
import { Quotas } from "./account/Quotas.tsx"
import { Add } from "./add/Add.tsx"
import { Connections } from "./connections/Connections.tsx"
import { ModelList } from "./models/ModelList.tsx"
import { Node } from "./nodes/Node.tsx"
import { Nodes } from "./nodes/Nodes.tsx"
import { Pauses } from "./pauses/Pauses.tsx"

const tabs = ["connections", "models", "quotas", "pauses", "nodes"] as const
type Tab = (typeof tabs)[number]

const isTab = (id: string | undefined): id is Tab => tabs.some((tab) => tab === id)

const contents: Readonly<Record<Exclude<Tab, "nodes">, () => ComponentChildren>> = {
  connections: () => <Connections />,
  models: () => (
    <section class="card stack">
      <ModelList connectionId={null} />
    </section>
  ),
  quotas: () => <Quotas />,
  pauses: () => <Pauses />
}

const Part = ({ tab }: { readonly tab: Tab }) => {
  const nodeId = useLocation().query["id"]
  if (tab === "nodes") return nodeId === undefined ? <Nodes /> : <Node id={nodeId} />
  return <>{contents[tab]()}</>
}

const Parts = ({ tab }: { readonly tab: Tab }) => (
  <div class="stack providers">
    <header class="view-head">
      <h1>{words.title}</h1>
      <a class="button main-action" href={placeOf("providers/add")}>
        <Icon name="add" /> {words.add}
      </a>
    </header>
    <Tabs
      label={words.parts.label}
      shown={tab}
      tabs={tabs.map((name) => ({
        name,
        title: words.parts[name],
        url: placeOf(name === "connections" ? "providers" : `providers/${name}`)
      }))}
    />
    <Part key={tab} tab={tab} />
  </div>
)

export const Providers = () => {
  const { id, part } = useRoute().params
  if (id === "add") return <Add key={part ?? ""} chosen={part} />
  if (id === undefined || isTab(id)) return <Parts tab={id ?? "connections"} />
  return <Account key={id} id={id} part={part} />
}
