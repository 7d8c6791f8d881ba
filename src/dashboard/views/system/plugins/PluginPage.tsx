/** One plugin: what it may do, what is set, what it wrote, and its switch. */
import { useMemo } from "preact/hooks"
import type { AnswerOf } from "../../../api/client.ts"
import { pluginsConfig, pluginsGet, pluginsLogs, pluginsSetConfig } from "../../../api/calls.generated.ts"
import { refresh, useAnswer } from "../../../api/queries.ts"
import { ValuesForm } from "../../../forms/ValuesForm.tsx"
import { Answered } from "../../../ui/Answered.tsx"
import { State } from "../../../ui/State.tsx"
import { Time } from "../../../ui/Time.tsx"
import { count, duration, visible } from "../../../ui/format.ts"
import { placeOf } from "../../../ui/address/places.ts"
import { words } from "../../../words/system/plugins.ts"
import { Facts } from "../../../ui/parts/Facts.tsx"
import { Tiles } from "../parts/Tiles.tsx"
import { Actions } from "./Actions.tsx"
import { permissionWords } from "./permissions.ts"
import type { Plugin } from "./plugin.ts"
import { PluginState } from "./PluginState.tsx"
import { schemaOf } from "./schema.ts"

const logsEveryMs = 5_000
const mostLines = 200

const Permissions = ({ plugin: { hosts, permissions } }: { readonly plugin: Plugin }) => (
  <section class="card stack" aria-label={words.permissions}>
    <h3>{words.permissions}</h3>
    {permissions.requested.length === 0 ? (
      <p>{words.noPermission}</p>
    ) : (
      <ul class="rows">
        {permissions.requested.map((permission) => {
          const isGranted = permissions.granted.includes(permission)
          return (
            <li key={permission}>
              <span>{permissionWords(permission, hosts)}</span>
              <State kind={isGranted ? "warning" : "quiet"}>{isGranted ? words.granted : words.asked}</State>
            </li>
          )
        })}
      </ul>
    )}
  </section>
)

const Config = ({ name }: { readonly name: string }) => {
  const config = useAnswer({
    key: ["plugin-config", name],
    ask: (signal) => pluginsConfig({ path: { name }, signal })
  })
  const answered = config.value.data?.schema
  const schema = useMemo(() => (answered === undefined ? {} : schemaOf(answered)), [answered])
  return (
    <section class="card stack" aria-label={words.config}>
      <h3>{words.config}</h3>
      <Answered of={config} height={160}>
        {({ schema: fields, values }) =>
          Object.keys(fields).length === 0 ? (
            <p class="quiet">{words.noConfig}</p>
          ) : (
            <ValuesForm
              schema={schema}
              values={values}
              stored={{
                call: pluginsConfig,
                asked: { path: { name } },
                of: (answer) => (answer as AnswerOf<typeof pluginsConfig>).values
              }}
              save={async (body, ifMatch) => {
                await pluginsSetConfig({ path: { name }, body: { values: body }, ifMatch })
                await refresh("plugin-config", name)
              }}
            />
          )
        }
      </Answered>
    </section>
  )
}

const levelKinds = { debug: "quiet", info: "quiet", warn: "warning", error: "bad" } as const

const Logs = ({ name }: { readonly name: string }) => {
  const logs = useAnswer({
    key: ["plugin-logs", name],
    ask: (signal) => pluginsLogs({ path: { name }, query: { limit: mostLines }, signal }),
    everyMs: logsEveryMs
  })
  return (
    <section class="card stack" aria-label={words.logs}>
      <h3>{words.logs}</h3>
      <Answered of={logs} height={120}>
        {({ logs: lines }) =>
          lines.length === 0 ? (
            <p class="quiet">{words.noLogs}</p>
          ) : (
            <ol class="log" tabIndex={0}>
              {lines.toReversed().map(({ at, hook, level, message }, index) => (
                // Lines of one moment are told apart by their place alone.
                <li key={`${at} ${lines.length - index}`}>
                  <Time at={at} /> <State kind={levelKinds[level]}>{words.levels[level]}</State>{" "}
                  {hook !== null && <code class="quiet">{hook}</code>} <span class="told">{visible(message)}</span>
                </li>
              ))}
            </ol>
          )
        }
      </Answered>
    </section>
  )
}

const About = ({ plugin }: { readonly plugin: Plugin }) => {
  const hooks = Object.entries(plugin.hooks).filter(([, { enabled }]) => enabled)
  return (
    <>
      <Facts
        rows={[
          [words.about.version, visible(plugin.version)],
          [words.about.author, visible(plugin.author ?? "–")],
          [words.about.license, visible(plugin.license ?? "–")],
          [words.about.source, words.sources[plugin.source]],
          [words.about.fails, plugin.failClosed ? words.failClosed : words.failOpen],
          [
            words.about.hooks,
            hooks.length === 0
              ? words.noHooks
              : hooks.map(([name]) => (
                  <code key={name} class="chip">
                    {visible(name)}
                  </code>
                ))
          ],
          [words.about.hash, <code key="hash">{visible(plugin.integrity)}</code>]
        ]}
      />
      <Tiles
        figures={[
          { name: words.stats.calls, value: count(plugin.stats.calls) },
          { name: words.stats.modified, value: count(plugin.stats.modified) },
          { name: words.stats.blocked, value: count(plugin.stats.blocked) },
          { name: words.stats.failed, value: count(plugin.stats.failed) },
          { name: words.stats.dropped, value: count(plugin.stats.dropped) },
          { name: words.stats.p99, value: plugin.stats.p99Ms === null ? "–" : duration(plugin.stats.p99Ms) }
        ]}
      />
    </>
  )
}

export const PluginPage = ({ name }: { readonly name: string }) => {
  const one = useAnswer({ key: ["plugins", name], ask: (signal) => pluginsGet({ path: { name }, signal }) })
  return (
    <div class="stack">
      <p>
        <a href={placeOf("system/plugins")}>{words.back}</a>
      </p>
      <Answered of={one} height={320}>
        {({ plugin }) => (
          <>
            <header class="area-head">
              <div>
                <h2>{visible(plugin.name)}</h2>
                <p class="quiet">{visible(plugin.description ?? "")}</p>
              </div>
              <Actions plugin={plugin} />
            </header>
            <PluginState status={plugin.status} />
            {plugin.lastError !== null && (
              <p class="problem" role="alert">
                {visible(plugin.lastError)}
              </p>
            )}
            <About plugin={plugin} />
            <Permissions plugin={plugin} />
            <Config name={plugin.name} />
            <Logs name={plugin.name} />
          </>
        )}
      </Answered>
    </div>
  )
}
