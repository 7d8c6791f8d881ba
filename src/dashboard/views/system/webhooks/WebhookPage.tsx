/** One webhook: its state, its last attempts, its settings, and what can be done with it. */
import { useSignal } from "@preact/signals"
import { useLocation } from "preact-iso"
import type { AnswerOf } from "../../../api/client.ts"
import {
  webhooksDeliveries,
  webhooksGet,
  webhooksRemove,
  webhooksTest,
  webhooksUpdate
} from "../../../api/calls.generated.ts"
import { refresh, useAnswer } from "../../../api/queries.ts"
import { ValuesForm } from "../../../forms/ValuesForm.tsx"
import { opening, setting } from "../../../ui/handlers.ts"
import { Answered } from "../../../ui/Answered.tsx"
import { Danger } from "../../../ui/dialogs/Danger.tsx"
import { Time } from "../../../ui/Time.tsx"
import { visible } from "../../../ui/format.ts"
import { placeOf } from "../../../ui/address/places.ts"
import { toast } from "../../../ui/toasts.tsx"
import { words as parts } from "../../../words/parts.ts"
import { words } from "../../../words/system/webhooks.ts"
import { Body } from "../parts/Body.tsx"
import { Facts } from "../../../ui/parts/Facts.tsx"
import { useWork } from "../../../ui/useWork.ts"
import { Deliveries } from "./Deliveries.tsx"
import { type Webhook, WebhookState } from "./WebhookState.tsx"

const everyMs = 5_000
const keys = ["webhooks", "webhook-deliveries"] as const

const daysOfWeek = 7

const nameOf = ({ description, url }: Webhook): string => description ?? url

const Actions = ({ webhook }: { readonly webhook: Webhook }) => {
  const isRemoving = useSignal(false)
  const { route } = useLocation()
  const { isBusy, run } = useWork(keys)
  const path = { id: webhook.id }
  const test = (): void =>
    void run(async () => {
      const { delivered, error, status } = await webhooksTest({ path })
      if (delivered) toast("good", words.delivered(status))
      else toast("bad", visible(words.notDelivered(error ?? String(status))))
    })
  const put = (enabled: boolean) => webhooksUpdate({ path, body: { enabled } })
  const turn = (enabled: boolean): void =>
    void run(async () => {
      await put(enabled)
      toast("good", enabled ? words.enabled : words.disabled, {
        label: parts.undo,
        run: () => void run(() => put(!enabled))
      })
    })
  return (
    <span class="buttons">
      <button type="button" class="button main-action" disabled={isBusy.value} onClick={test}>
        {words.test}
      </button>
      <button type="button" class="button" disabled={isBusy.value} onClick={() => turn(webhook.enabled === 0)}>
        {webhook.enabled === 1 ? words.disable : words.enable}
      </button>
      <button type="button" class="button danger" onClick={setting(isRemoving, true)}>
        {words.remove}
      </button>
      <Danger
        title={words.removeTitle(visible(nameOf(webhook)))}
        means={words.removeMeans}
        name={nameOf(webhook)}
        verb={words.remove}
        {...opening(isRemoving)}
        run={async () => {
          await webhooksRemove({ path })
          toast("good", words.removed)
          void refresh("webhooks")
          route(placeOf("system/webhooks"))
        }}
      />
    </span>
  )
}

/** Times in which events wait, and what is sent all the same. */
const quietText = ({ quietHours }: Webhook): string => {
  if (quietHours === null) return words.noQuiet
  const times = quietHours.windows.map(({ days, from, to }) =>
    words.quiet(days.length === daysOfWeek ? null : days.map((day) => words.days[day]).join(", "), from, to)
  )
  const through = [quietHours.passSeverity, ...quietHours.passEvents].filter((each) => each !== null)
  return through.length === 0 ? times.join("; ") : words.quietBut(times.join("; "), through.join(", "))
}

const About = ({ webhook }: { readonly webhook: Webhook }) => (
  <Facts
    rows={[
      [words.about.state, <WebhookState key="state" webhook={webhook} />],
      [words.about.url, <code key="url">{visible(webhook.url)}</code>],
      [words.about.kind, words.kinds[webhook.kind]],
      [words.about.events, webhook.events.includes("*") ? words.every : visible(webhook.events.join(", "))],
      [words.about.timeZone, visible(webhook.timeZone)],
      [words.about.quiet, visible(quietText(webhook))],
      [words.about.created, <Time key="created" at={webhook.created_at} />]
    ]}
  />
)

type One = AnswerOf<typeof webhooksGet>["webhook"]

/** Selects what is stored, without the key: another one may be typed. */
const valuesOf = ({ description, enabled, events, kind, mail, quietHours, timeZone, url }: One): object => ({
  url,
  events,
  kind,
  enabled: enabled === 1,
  description,
  timeZone,
  quietHours,
  ...(mail === null ? {} : { mail: { ...mail, password: null } })
})

const Settings = ({ webhook }: { readonly webhook: One }) => (
  <section class="card stack" aria-label={words.settings}>
    <h3>{words.settings}</h3>
    <Body operation="webhooksUpdate">
      {(schema) => (
        <ValuesForm
          schema={schema}
          values={valuesOf(webhook)}
          stored={{
            call: webhooksGet,
            asked: { path: { id: webhook.id } },
            of: (answer) => valuesOf((answer as AnswerOf<typeof webhooksGet>).webhook)
          }}
          save={async (body, ifMatch) => {
            await webhooksUpdate({ path: { id: webhook.id }, body: body as never, ifMatch })
            for (const key of keys) void refresh(key)
          }}
        />
      )}
    </Body>
  </section>
)

export const WebhookPage = ({ id }: { readonly id: string }) => {
  const one = useAnswer({ key: ["webhooks", id], ask: (signal) => webhooksGet({ path: { id }, signal }) })
  const deliveries = useAnswer({
    key: ["webhook-deliveries", id],
    ask: (signal) => webhooksDeliveries({ path: { id }, signal }),
    everyMs
  })
  return (
    <div class="stack">
      <p>
        <a href={placeOf("system/webhooks")}>{words.back}</a>
      </p>
      <Answered of={one} height={200}>
        {({ webhook }) => (
          <>
            <header class="area-head">
              <h2>{visible(nameOf(webhook))}</h2>
              <Actions webhook={webhook} />
            </header>
            <About webhook={webhook} />
            <section class="card stack" aria-label={words.deliveries}>
              <h3>{words.deliveries}</h3>
              <Answered of={deliveries} height={200}>
                {({ deliveries: attempts }) => <Deliveries id={id} attempts={attempts} />}
              </Answered>
            </section>
            <Settings key={id} webhook={webhook} />
          </>
        )}
      </Answered>
    </div>
  )
}
