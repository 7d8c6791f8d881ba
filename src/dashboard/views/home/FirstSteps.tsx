/** Shows the steps of a new gateway to its first answer, with what is done of them. */
import { gatewayUrl } from "../../api/client.ts"
import { Copyable } from "../../ui/copy/Copyable.tsx"
import { State } from "../../ui/State.tsx"
import { words } from "../../words/home.ts"

const question = (url: string): string =>
  `curl ${url}v1/chat/completions -H 'Content-Type: application/json' -d '{"model":"auto","messages":[{"role":"user","content":"Say hello in one word."}]}'`

export const FirstSteps = ({ requests }: { readonly requests: number }) => (
  <section class="card" aria-labelledby="steps">
    <h2 id="steps">{words.steps.title}</h2>
    <ol class="steps">
      <li>
        <State kind="quiet" icon="wait">
          {words.steps.provider}
        </State>
        <p class="quiet">{words.steps.providerHint}</p>
        <Copyable text="gateway provider add" />
      </li>
      <li>
        <State kind={requests > 0 ? "good" : "quiet"} icon={requests > 0 ? "good" : "wait"}>
          {words.steps.question}
        </State>
        <Copyable text={question(gatewayUrl)} />
      </li>
      <li>
        <State kind="quiet" icon="wait">
          {words.steps.client}
        </State>
        <p class="quiet">{words.steps.clientHint}</p>
        <Copyable text={`${gatewayUrl}v1`} />
      </li>
    </ol>
  </section>
)
