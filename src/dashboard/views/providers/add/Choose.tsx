/** Step 1: the provider is chosen, by its kind or by its name. */
import { useLocation } from "preact-iso"
import type { Provider } from "../../../api/manifest.ts"
import { Search } from "../../../ui/parts/Search.tsx"
import { grouped } from "../../../ui/parts/grouped.ts"
import { visible } from "../../../ui/format.ts"
import { placeOf } from "../../../ui/address/places.ts"
import { words } from "../../../words/addProvider.ts"
import { type Node, ownPart } from "./target.ts"

const categories = Object.keys(words.categories) as ReadonlyArray<keyof typeof words.categories>

const wordOf = (category: string): string =>
  categories.find((each) => each === category) === undefined
    ? words.otherCategory
    : words.categories[category as keyof typeof words.categories]

const rankOf = (category: string): number => {
  const at = categories.findIndex((each) => each === category)
  return at === -1 ? categories.length : at
}

/** Names that begin with what was typed come first. */
const fitting = (providers: ReadonlyArray<Provider>, wanted: string): ReadonlyArray<Provider> =>
  providers.filter(({ aliases, id, name }) =>
    [id, name, ...aliases].some((text) => text.toLowerCase().includes(wanted))
  )

const Choice = ({ hint, part, title }: { readonly part: string; readonly title: string; readonly hint?: string }) => (
  <li>
    <a class="button choice-link" href={placeOf(`providers/add/${encodeURIComponent(part)}`)}>
      <span>{visible(title)}</span>
      {hint !== undefined && <span class="quiet">{hint}</span>}
    </a>
  </li>
)

const signInHint = ({ signIn }: Provider): { readonly hint?: string } =>
  signIn === null ? {} : { hint: words.signsIn }

interface Properties {
  readonly providers: ReadonlyArray<Provider>
  readonly nodes: ReadonlyArray<Node>
}

export const Choose = ({ nodes, providers }: Properties) => {
  const wanted = (useLocation().query["q"] ?? "").trim().toLowerCase()
  const found = fitting(providers, wanted)
  const servers = nodes.filter(({ name, prefix }) => `${name} ${prefix}`.toLowerCase().includes(wanted))
  const groups = [...grouped(found, ({ category }) => category)].toSorted(
    ([one], [other]) => rankOf(one) - rankOf(other)
  )
  return (
    <div class="stack">
      <Search label={words.search} />
      <p class="quiet" role="status">
        {found.length + servers.length === 0 ? words.noneFound : words.found(found.length + servers.length)}
      </p>
      <ul class="choices wide">
        <Choice part={ownPart} title={words.own} hint={words.ownHint} />
      </ul>
      {wanted !== "" && found.length <= 12 ? (
        <ul class="choices">
          {found.map((provider) => (
            <Choice key={provider.id} part={provider.id} title={provider.name} {...signInHint(provider)} />
          ))}
        </ul>
      ) : (
        groups.map(([category, its]) => (
          <section key={category} aria-label={wordOf(category)}>
            <h2 class="choice-head">{wordOf(category)}</h2>
            <ul class="choices">
              {its.map((provider) => (
                <Choice key={provider.id} part={provider.id} title={provider.name} {...signInHint(provider)} />
              ))}
            </ul>
          </section>
        ))
      )}
      {servers.length > 0 && (
        <section aria-label={words.ownServers}>
          <h2 class="choice-head">{words.ownServers}</h2>
          <ul class="choices">
            {servers.map(({ name, prefix }) => (
              <Choice key={prefix} part={prefix} title={name} hint={visible(prefix)} />
            ))}
          </ul>
        </section>
      )}
    </div>
  )
}
