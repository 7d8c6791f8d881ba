/** The question of the first column as programs. */
import { useSignal } from "@preact/signals"
import { playgroundSnippets } from "../../api/calls.generated.ts"
import { useAnswer } from "../../api/queries.ts"
import { Answered } from "../../ui/Answered.tsx"
import { Copyable } from "../../ui/copy/Copyable.tsx"
import { Dialog } from "../../ui/dialogs/Dialog.tsx"
import { State } from "../../ui/State.tsx"
import { words } from "../../words/playground.ts"
import { linesOf } from "./draft.ts"
import { forms, paramsOf } from "./endpoints.ts"
import { columns, draft, endpoint } from "./store.ts"

const languages = ["curl", "python", "typescript"] as const

const Code = () => {
  const language = useSignal<(typeof languages)[number]>("curl")
  const [first] = columns.value
  const asked = first?.own.value ?? draft.value
  const { fields } = forms[endpoint.value]
  const texts = endpoint.value === "rerank" ? [asked.prompt, ...linesOf(asked.documents)] : [asked.prompt]
  const body = {
    endpoint: endpoint.value,
    model: first?.model.value ?? "auto",
    ...(fields.includes("system") && asked.system !== "" ? { system: asked.system } : {}),
    ...(fields.includes("prompt") ? { messages: texts.map((content) => ({ role: "user" as const, content })) } : {}),
    ...(fields.includes("params") ? { params: paramsOf(asked) } : {})
  }
  const answer = useAnswer({
    key: ["playground-snippets", body],
    ask: (signal) => playgroundSnippets({ body, signal })
  })
  return (
    <>
      <div class="buttons" role="group" aria-label={words.snippets}>
        {languages.map((one) => (
          <button
            key={one}
            type="button"
            class="button"
            aria-pressed={language.value === one}
            onClick={() => {
              language.value = one
            }}
          >
            {one}
          </button>
        ))}
      </div>
      <Answered of={answer} height={200}>
        {(snippets) => (
          <>
            <Copyable text={snippets[language.value]} />
            {snippets.omitted.length > 0 && <State kind="warning">{words.omitted(snippets.omitted.join(", "))}</State>}
          </>
        )}
      </Answered>
      <p class="quiet">{words.snippetsHint}</p>
    </>
  )
}

export const SnippetsOf = ({ isOpen, onClose }: { readonly isOpen: boolean; readonly onClose: () => void }) => (
  <Dialog title={words.snippets} isOpen={isOpen} onClose={onClose}>
    <Code />
  </Dialog>
)
