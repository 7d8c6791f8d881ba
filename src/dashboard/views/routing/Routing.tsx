/** Answers where a model will go, what would be if it were changed, and who gets what share. */
import { useLocation, useRoute } from "preact-iso"
import { placeOf } from "../../ui/address/places.ts"
import { words } from "../../words/routing.ts"
import { Aliases } from "./Aliases.tsx"
import { AutoIds } from "./AutoIds.tsx"
import { EditCombo, NewCombo } from "./combo/Combo.tsx"
import { Combos } from "./Combos.tsx"
import { Explain } from "./Explain.tsx"
import { Fallbacks } from "./Fallbacks.tsx"
import { Groups } from "./groups/Groups.tsx"
import { ResilienceSettings, RoutingSettings } from "./Settings.tsx"

const sections = [
  { path: "", name: words.sections.combos, view: Combos },
  { path: "auto", name: words.sections.auto, view: AutoIds },
  { path: "aliases", name: words.sections.aliases, view: Aliases },
  { path: "fallbacks", name: words.sections.fallbacks, view: Fallbacks },
  { path: "groups", name: words.sections.groups, view: Groups },
  { path: "resilience", name: words.sections.resilience, view: ResilienceSettings },
  { path: "settings", name: words.sections.settings, view: RoutingSettings }
] as const

const Sections = ({ chosen }: { readonly chosen: string }) => (
  <nav class="areas" aria-label={words.sections.label}>
    {sections.map(({ name, path }) => (
      <a
        key={path}
        href={placeOf(path === "" ? "routing" : `routing/${path}`)}
        aria-current={path === chosen ? "page" : undefined}
      >
        {name}
      </a>
    ))}
  </nav>
)

export const Routing = () => {
  const { id = "", part } = useRoute().params
  const { query } = useLocation()
  if (id === "new") return <NewCombo key={query["from"] ?? ""} from={query["from"]} />
  if (id === "combo" && part !== undefined) return <EditCombo key={part} id={part} />
  const { view: View } = sections.find(({ path }) => path === id) ?? sections[0]
  return (
    <div class="routing stack">
      <header class="view-head">
        <h1>{words.title}</h1>
      </header>
      <Explain />
      <Sections chosen={id} />
      <View />
    </div>
  )
}
