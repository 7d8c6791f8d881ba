/** Answers where a model would go now, for a key; what is asked stands in the address. */
import { useSignal } from "@preact/signals"
import { useLocation } from "preact-iso"
import { useEffect } from "preact/hooks"
import { keysList, routingExplain } from "../../api/calls.generated.ts"
import { useAnswer } from "../../api/queries.ts"
import { typing } from "../../ui/handlers.ts"
import { Answered } from "../../ui/Answered.tsx"
import { Decision } from "../../ui/decision/Decision.tsx"
import { Icon } from "../../ui/Icon.tsx"
import { ModelInput } from "../../ui/ModelInput.tsx"
import { State } from "../../ui/State.tsx"
import { visible } from "../../ui/format.ts"
import { words } from "../../words/routing.ts"

interface Asked {
  readonly model: string
  /** Id of a key; empty: none. */
  readonly as: string
}

const Explained = ({ as, model }: Asked) => {
  const decision = useAnswer({
    key: ["explain", model, as],
    ask: (signal) =>
      routingExplain({
        body: {
          model,
          body: { messages: [{ role: "user", content: "Hello" }] },
          ...(as === "" ? {} : { apiKeyId: as })
        },
        signal
      })
  })
  return (
    <Answered of={decision} height={200}>
      {(answer) => {
        const [first] = answer.decision.order
        return (
          <div class="stack">
            <State kind={first === undefined ? "bad" : "good"}>
              {first === undefined ? words.explain.nobody : words.explain.first(visible(first))}
            </State>
            <Decision decision={answer.decision} />
            {as !== "" && <p class="quiet">{words.explain.ofKey}</p>}
          </div>
        )
      }}
    </Answered>
  )
}

const addressOf = (path: string, { as, model }: Asked): string => {
  const query = new URLSearchParams()
  if (model !== "") query.set("model", model)
  if (model !== "" && as !== "") query.set("as", as)
  return query.size === 0 ? path : `${path}?${query.toString()}`
}

export const Explain = () => {
  const { path, query, route } = useLocation()
  const model = useSignal(query["model"] ?? "")
  const as = useSignal(query["as"] ?? "")
  useEffect(() => {
    if (query["model"] !== undefined) model.value = query["model"]
    if (query["as"] !== undefined) as.value = query["as"]
  }, [query["model"], query["as"], model, as])
  const keys = useAnswer({
    key: ["keys", "summary"],
    ask: (signal) => keysList({ query: { view: "summary" }, signal })
  })
  const submit = (event: Event): void => {
    event.preventDefault()
    route(addressOf(path, { model: model.value.trim(), as: as.value }))
  }
  const asked = query["model"] ?? ""
  return (
    <section class="card stack" aria-label={words.explain.title}>
      <form class="explain" onSubmit={submit}>
        <label for="explain-model">{words.explain.model}</label>
        <ModelInput
          id="explain-model"
          placeholder="auto"
          value={model.value}
          onValue={(value) => {
            model.value = value
          }}
        />
        <label for="explain-as">{words.explain.as}</label>
        <select id="explain-as" class="input" value={as.value} onChange={typing(as)}>
          <option value="">{words.explain.anybody}</option>
          {keys.value.data?.keys.map(({ id, name }) => (
            <option key={id} value={id}>
              {visible(name)}
            </option>
          ))}
        </select>
        <button type="submit" class="button" disabled={model.value.trim() === ""}>
          {words.explain.ask}
        </button>
        {asked !== "" && (
          <a class="button plain" href={path} aria-label={words.explain.close} title={words.explain.close}>
            <Icon name="close" />
          </a>
        )}
      </form>
      {asked === "" ? (
        <p class="quiet">{words.explain.hint}</p>
      ) : (
        <Explained key={`${asked} ${query["as"] ?? ""}`} model={asked} as={query["as"] ?? ""} />
      )}
    </section>
  )
}
