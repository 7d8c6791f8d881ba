/** Answers what is given again instead of asked anew: figures, settings, and a way to begin with nothing. */
import { useSignal } from "@preact/signals"
import type { AnswerOf } from "../../api/client.ts"
import {
  gatewaySettingsGet,
  gatewaySettingsUpdate,
  telemetryCaches,
  telemetryClearCaches
} from "../../api/calls.generated.ts"
import { refresh, useAnswer } from "../../api/queries.ts"
import { ValuesForm } from "../../forms/ValuesForm.tsx"
import { opening, setting } from "../../ui/handlers.ts"
import { Answered } from "../../ui/Answered.tsx"
import { Danger } from "../../ui/dialogs/Danger.tsx"
import { State } from "../../ui/State.tsx"
import { count, duration, percent } from "../../ui/format.ts"
import { toast } from "../../ui/toasts.tsx"
import { words } from "../../words/system/cache.ts"
import { Body } from "./parts/Body.tsx"
import { Head } from "./parts/Head.tsx"
import { Tiles } from "./parts/Tiles.tsx"

type Stats = AnswerOf<typeof telemetryCaches>

const everyMs = 10_000

const Figures = ({ stats: { idempotency, semanticCache: cache } }: { readonly stats: Stats }) => (
  <>
    <State kind={cache.enabled ? "good" : "quiet"}>{cache.enabled ? words.on : words.off}</State>
    <Tiles
      figures={[
        { name: words.hitRate, value: percent(cache.hitRate), about: words.since },
        { name: words.hits, value: count(cache.hits) },
        { name: words.semantic, value: count(cache.semanticHits) },
        { name: words.misses, value: count(cache.misses) },
        { name: words.memory, value: count(cache.memorySize), about: words.of(count(cache.memoryMaxSize)) },
        { name: words.stored, value: count(cache.dbSize) },
        {
          name: words.idempotency,
          value: count(idempotency.activeKeys),
          about: idempotency.windowMs === 0 ? words.never : words.forSeconds(duration(idempotency.windowMs))
        }
      ]}
    />
  </>
)

const Settings = () => {
  const settings = useAnswer({ key: ["gateway-settings"], ask: (signal) => gatewaySettingsGet({ signal }) })
  return (
    <section class="card stack" aria-label={words.settings}>
      <h3>{words.settings}</h3>
      <Answered of={settings} height={420}>
        {({ cache }) => (
          <Body operation="gatewaySettingsUpdate" member="cache">
            {(schema) => (
              <ValuesForm
                schema={schema}
                values={cache}
                stored={{
                  call: gatewaySettingsGet,
                  of: (answer) => (answer as AnswerOf<typeof gatewaySettingsGet>).cache
                }}
                save={async (body, ifMatch) => {
                  await gatewaySettingsUpdate({ body: { cache: body } as never, ifMatch })
                  await Promise.all([refresh("gateway-settings"), refresh("caches")])
                }}
              />
            )}
          </Body>
        )}
      </Answered>
    </section>
  )
}

export const Cache = () => {
  const stats = useAnswer({ key: ["caches"], ask: (signal) => telemetryCaches({ signal }), everyMs })
  const isAsked = useSignal(false)
  const entries = stats.value.data?.semanticCache
  const kept = entries === undefined ? 0 : Math.max(entries.memorySize, entries.dbSize)
  return (
    <div class="stack">
      <Head title={words.title} hint={words.hint}>
        <button type="button" class="button danger" onClick={setting(isAsked, true)}>
          {words.clear}
        </button>
      </Head>
      <Answered of={stats} height={200}>
        {(answer) => <Figures stats={answer} />}
      </Answered>
      <Settings />
      <Danger
        title={words.clear}
        means={words.clearMeans(kept)}
        name={words.clearName}
        verb={words.clear}
        {...opening(isAsked)}
        run={async () => {
          const { cleared } = await telemetryClearCaches()
          toast("good", words.cleared(cleared))
          void refresh("caches")
        }}
      />
    </div>
  )
}
