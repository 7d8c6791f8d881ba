/** The models that the key may ask, and how it is sent. */
import { useSignal } from "@preact/signals"
import { gatewayUrl } from "../../api/client.ts"
import { ownModels } from "../../api/own.ts"
import { useAnswer } from "../../api/queries.ts"
import { Answered } from "../../ui/Answered.tsx"
import { Copyable } from "../../ui/copy/Copyable.tsx"
import { visible } from "../../ui/format.ts"
import { words } from "../../words/me.ts"

const mostShown = 60

/** The models that may be asked, searched by a part of their names. */
export const Found = ({ all }: { readonly all: ReadonlyArray<string> }) => {
  const typed = useSignal("")
  const wanted = typed.value.trim().toLowerCase()
  const found = wanted === "" ? all : all.filter((id) => id.toLowerCase().includes(wanted))
  return (
    <>
      <div class="field">
        <label for="own-models">{words.search}</label>
        <input
          id="own-models"
          class="input"
          type="search"
          autocomplete="off"
          spellcheck={false}
          value={typed.value}
          onInput={(event) => {
            typed.value = event.currentTarget.value
          }}
        />
        <p class="hint" role="status">
          {found.length === 0 ? words.noModel : words.modelCount(found.length)}
        </p>
      </div>
      <ul class="own-models">
        {found.slice(0, mostShown).map((id) => (
          <li key={id}>
            <code>{visible(id)}</code>
          </li>
        ))}
      </ul>
      {found.length > mostShown && <p class="quiet">{words.more(found.length - mostShown)}</p>}
    </>
  )
}

/** A model's id comes from a provider: what a shell would read in it is left out of a text that people paste. */
export const plainModel = (all: ReadonlyArray<string>): string =>
  all.find((id) => /^[\w./:@-]{1,200}$/.test(id)) ?? "auto"

export const snippets = (model: string): ReadonlyArray<string> => [
  `curl ${gatewayUrl}v1/chat/completions -H "Authorization: Bearer $GATEWAY_API_KEY" -H "Content-Type: application/json" -d '{"model":"${model}","messages":[{"role":"user","content":"Say hello in one word."}]}'`,
  `export OPENAI_BASE_URL=${gatewayUrl}v1 OPENAI_API_KEY="$GATEWAY_API_KEY"`,
  `export ANTHROPIC_BASE_URL=${gatewayUrl.replace(/\/$/, "")} ANTHROPIC_AUTH_TOKEN="$GATEWAY_API_KEY"`
]

export const Models = () => {
  const models = useAnswer({ key: ["own", "models"], ask: ownModels })
  return (
    <>
      <section class="card stack" aria-labelledby="own-snippets">
        <h2 id="own-snippets">{words.snippets}</h2>
        <p class="quiet">{words.snippetHint}</p>
        {snippets(plainModel(models.value.data ?? [])).map((text) => (
          <Copyable key={text} text={text} />
        ))}
      </section>
      <section class="card stack" aria-labelledby="own-model-list">
        <h2 id="own-model-list">{words.models}</h2>
        <Answered of={models} height={120}>
          {(all) => <Found all={all} />}
        </Answered>
      </section>
    </>
  )
}
