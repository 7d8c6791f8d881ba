/** Adds a provider in four steps: choose, key, check, first question. Which provider is in the address; nothing is stored before it is saved. */
import { useSignal } from "@preact/signals"
import { providerNodesList } from "../../../api/calls.generated.ts"
import { loadProviders } from "../../../api/manifest.ts"
import { useAnswer } from "../../../api/queries.ts"
import { Answered } from "../../../ui/Answered.tsx"
import { Icon } from "../../../ui/Icon.tsx"
import { visible } from "../../../ui/format.ts"
import { placeOf } from "../../../ui/address/places.ts"
import { words } from "../../../words/addProvider.ts"
import { words as providers } from "../../../words/providers.ts"
import { Choose } from "./Choose.tsx"
import { nothingTyped, targetOf, titleOf } from "./target.ts"
import { Wizard } from "./Wizard.tsx"

const mostNodes = 200
const names: ReadonlyArray<string> = [words.steps.choose, words.steps.key, words.steps.check, words.steps.question]
/** Of a provider whose accounts sign in: the provider itself checks who that is. */
const signInNames: ReadonlyArray<string> = [words.steps.choose, words.steps.signIn]

const Steps = ({ at, names: shown }: { readonly at: number; readonly names: ReadonlyArray<string> }) => (
  <ol class="wizard-steps" aria-label={words.steps.label}>
    {shown.map((name, index) => (
      <li key={name} class={index + 1 < at ? "done" : undefined} aria-current={index + 1 === at ? "step" : undefined}>
        <span class="step-number" aria-hidden="true">
          {index + 1 < at ? <Icon name="good" /> : index + 1}
        </span>
        {name}
      </li>
    ))}
  </ol>
)

const load = async (signal: AbortSignal) => {
  const [known, { nodes }] = await Promise.all([
    loadProviders(signal),
    providerNodesList({ query: { limit: mostNodes }, signal })
  ])
  return { known, nodes }
}

export const Add = ({ chosen }: { readonly chosen: string | undefined }) => {
  const found = useAnswer({ key: ["manifest", "nodes"], ask: load })
  const step = useSignal(2)
  const data = found.value.data
  const target = chosen === undefined || data === undefined ? null : targetOf(chosen, data.known, data.nodes)
  const isSignIn = target?._tag === "Known" && target.provider.needs.includes("signIn")
  const title = target === null || target._tag === "New" ? null : titleOf(target, nothingTyped)
  return (
    <div class="stack wizard">
      <header class="view-head">
        <div>
          <p>
            <a href={placeOf("providers")}>{providers.back}</a>
          </p>
          <h1>{title === null ? words.title : `${words.title}: ${visible(title)}`}</h1>
        </div>
        {chosen !== undefined && (
          <a class="button" href={placeOf("providers/add")}>
            {words.another}
          </a>
        )}
      </header>
      <Steps at={chosen === undefined ? 1 : step.value} names={isSignIn ? signInNames : names} />
      <Answered of={found} height={320}>
        {({ known, nodes }) =>
          chosen === undefined ? (
            <Choose providers={known} nodes={nodes} />
          ) : target === null ? (
            <div class="empty">
              <p>{words.unknown(visible(chosen))}</p>
            </div>
          ) : (
            <Wizard
              target={target}
              onStep={(next) => {
                step.value = next
              }}
            />
          )
        }
      </Answered>
    </div>
  )
}
