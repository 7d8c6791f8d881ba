/** The texts that set up coding tools with a key of the person, and the models that the key may ask. */
import { useSignal } from "@preact/signals"
import { gatewayUrl } from "../../../api/client.ts"
import { modelsAs } from "../../../api/own.ts"
import { useAnswer } from "../../../api/queries.ts"
import { Answered } from "../../../ui/Answered.tsx"
import { Copyable } from "../../../ui/copy/Copyable.tsx"
import { Empty } from "../../../ui/parts/Empty.tsx"
import { Pick } from "../../../ui/parts/Entry.tsx"
import { visible } from "../../../ui/format.ts"
import { words as own } from "../../../words/me.ts"
import { tools } from "../../../api/tools.generated.ts"
import { words } from "../../../words/person.ts"
import { Found, plainModel, snippets } from "../Models.tsx"
import type { OwnKey } from "./OwnKeys.tsx"

/** Sets a tool up by its own command; the key stays in the variable. */
const setUpText = (tool: string): string =>
  `gateway setup-${tool} --remote ${gatewayUrl.replace(/\/$/, "")} --api-key "$GATEWAY_API_KEY"`

const Models = ({ keyId }: { readonly keyId: string }) => {
  const models = useAnswer({ key: ["person", "models", keyId], ask: (signal) => modelsAs(keyId, signal) })
  return (
    <>
      <section class="card stack" aria-labelledby="person-call">
        <h2 id="person-call">{own.snippets}</h2>
        {snippets(plainModel(models.value.data ?? [])).map((text) => (
          <Copyable key={text} text={text} />
        ))}
      </section>
      <section class="card stack" aria-labelledby="person-models">
        <h2 id="person-models">{own.models}</h2>
        <Answered of={models} height={120}>
          {(all) => <Found all={all} />}
        </Answered>
      </section>
    </>
  )
}

export const SetUp = ({ keys }: { readonly keys: ReadonlyArray<OwnKey> }) => {
  const tool = useSignal<string>(tools[0][0])
  const chosen = useSignal(keys[0]?.id ?? "")
  const keyId = keys.some(({ id }) => id === chosen.value) ? chosen.value : (keys[0]?.id ?? "")
  return (
    <>
      <section class="card stack" aria-labelledby="person-tools">
        <h2 id="person-tools">{words.tools}</h2>
        <p class="quiet">{words.toolsHint}</p>
        <Pick name={words.tool} value={tool} choices={tools} />
        <Copyable name={words.setUp} text={setUpText(tool.value)} />
      </section>
      {keyId === "" ? (
        <Empty text={words.noModels} />
      ) : (
        <>
          {keys.length > 1 && (
            <Pick name={words.modelsOf} value={chosen} choices={keys.map(({ id, name }) => [id, visible(name)])} />
          )}
          <Models key={keyId} keyId={keyId} />
        </>
      )}
    </>
  )
}
