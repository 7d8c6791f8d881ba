/** The first page of the system: what differs from how the gateway comes, which doors are open, and whether one can get back. */
import type { ComponentChildren } from "preact"
import type { AnswerOf } from "../../api/client.ts"
import {
  backupsCreate,
  backupsList,
  flagsList,
  gatewaySettingsOrigins,
  tunnelsList
} from "../../api/calls.generated.ts"
import { useAnswer } from "../../api/queries.ts"
import { Answered } from "../../ui/Answered.tsx"
import { State } from "../../ui/State.tsx"
import { Time } from "../../ui/Time.tsx"
import { count, visible } from "../../ui/format.ts"
import { placeOf } from "../../ui/address/places.ts"
import { words } from "../../words/system.ts"
import { Facts } from "../../ui/parts/Facts.tsx"
import { useWork } from "../../ui/useWork.ts"
import { shownValue } from "./settings/value.ts"

type Origins = AnswerOf<typeof gatewaySettingsOrigins>
type FlagList = AnswerOf<typeof flagsList>

const mostShown = 6

const valueIn = ({ settings }: Origins, operation: string, name: string): unknown =>
  settings.find((one) => one.operation === operation && one.name === name)?.value

const SetRows = ({ flags, origins }: { readonly origins: Origins; readonly flags: FlagList }) => {
  const settings = origins.settings.filter(({ source }) => source !== "default")
  const set = flags.flags.filter(({ source }) => source === "db")
  const variables = origins.variables.filter(({ source }) => source !== "default")
  const waiting = flags.flags.filter(({ pendingRestart }) => pendingRestart).length
  const rows = [
    ...set.map(({ effectiveValue, key }) => ({ name: key, value: effectiveValue, by: null })),
    ...settings.map(({ changedBy, name, value }) => ({ name, value: shownValue(value), by: changedBy })),
    ...variables.map(({ isSecret, name, value }) => ({
      name,
      value: isSecret ? words.set.secret : (value ?? ""),
      by: "environment"
    }))
  ]
  return (
    <>
      <p class="strip">
        <a href={`${placeOf("system/settings")}?show=set`}>{words.set.settings(settings.length)}</a>
        <a href={`${placeOf("system/flags")}?show=set`}>{words.set.flags(set.length)}</a>
        <a href={`${placeOf("system/settings")}?show=variables`}>{words.set.variables(variables.length)}</a>
      </p>
      {waiting > 0 && (
        <a href={placeOf("system/flags")}>
          <State kind="warning">{words.set.waits(waiting)}</State>
        </a>
      )}
      {rows.length === 0 ? (
        <p class="quiet">{words.set.nothing}</p>
      ) : (
        <ul class="set-rows">
          {rows.slice(0, mostShown).map(({ by, name, value }) => (
            <li key={name}>
              <code>{visible(name)}</code> <span class="value">{visible(value)}</span>
              {by !== null && <span class="quiet">{visible(by)}</span>}
            </li>
          ))}
        </ul>
      )}
      {rows.length > mostShown && <p class="quiet">{words.set.more(rows.length - mostShown)}</p>}
      <div class="buttons">
        <a class="button" href={placeOf("system/settings")}>
          {words.set.all}
        </a>
        <a class="button" href={placeOf("system/flags")}>
          {words.set.allFlags}
        </a>
      </div>
    </>
  )
}

const onOff = (isOn: boolean): ComponentChildren => (isOn ? words.doors.on : words.doors.off)

const Keys = ({ isRequired, reach }: { readonly isRequired: boolean; readonly reach: string }) =>
  isRequired ? (
    <State kind="good">{words.doors.keysRequired}</State>
  ) : (
    <span class="state-lines">
      <State kind="warning">{reach === "machine" ? words.doors.keysOptionalHere : words.doors.keysOptional}</State>{" "}
      <a href={`${placeOf("system/flags")}?q=REQUIRE_API_KEY`}>{words.doors.keysFlag}</a>
    </span>
  )

const OpenTunnels = () => {
  const tunnels = useAnswer({ key: ["tunnels"], ask: (signal) => tunnelsList({ signal }) })
  return (
    <Answered of={tunnels} height={20}>
      {({ tunnels: all }) => {
        const open = all.filter(({ running }) => running)
        return open.length === 0 ? (
          <State kind="quiet">{words.doors.noTunnel}</State>
        ) : (
          <span class="state-lines">
            {open.map(({ backend, publicUrl }) => (
              <span key={backend}>
                <State kind="warning">{words.doors.tunnelOpen}</State> {visible(backend)}{" "}
                <span class="quiet">{visible(publicUrl ?? "")}</span>
              </span>
            ))}
          </span>
        )
      }}
    </Answered>
  )
}

const Doors = ({ flags, origins }: { readonly origins: Origins; readonly flags: FlagList }) => {
  const { address, port, reach } = origins.listener
  const of = (name: string): unknown => valueIn(origins, "gatewaySettingsUpdate", name)
  const isFiltered = valueIn(origins, "gatewaySettingsSetIpFilter", "enabled") === true
  const pages = of("corsOrigins")
  const keys = flags.flags.find(({ key }) => key === "REQUIRE_API_KEY")
  const publicUrl = origins.variables.find(({ name }) => name === "GATEWAY_PUBLIC_URL")?.value ?? null
  return (
    <Facts
      rows={[
        [
          words.doors.listener,
          <span class="state-lines" key="listener">
            <code>{visible(port === 0 ? address : `${address}:${port}`)}</code>{" "}
            <State kind={reach === "machine" ? "good" : "warning"}>
              {reach === "machine" ? words.doors.machine : words.doors.network}
            </State>
          </span>
        ],
        [words.doors.keys, <Keys key="keys" isRequired={keys?.effectiveValue === "true"} reach={reach} />],
        [words.doors.tunnels, <OpenTunnels key="tunnels" />],
        ...(publicUrl === null ? [] : [[words.doors.publicUrl, visible(publicUrl)] as const]),
        [words.doors.ipFilter, onOff(isFiltered)],
        [
          words.doors.pages,
          Array.isArray(pages) && pages.length > 0 ? visible(pages.join(", ")) : words.doors.pagesNone
        ],
        [words.doors.metrics, of("metricsPublic") === true ? words.doors.metricsPublic : words.doors.metricsKey],
        [words.doors.mcp, onOff(of("mcpEnabled") === true)],
        [words.doors.a2a, onOff(of("a2aEnabled") === true)]
      ]}
    />
  )
}

const Recovery = ({ origins }: { readonly origins: Origins }) => {
  const backups = useAnswer({
    key: ["backups", "latest"],
    ask: (signal) => backupsList({ query: { limit: 1 } as object, signal })
  })
  const { isBusy, run } = useWork(["backups"])
  const of = (name: string): unknown => valueIn(origins, "gatewaySettingsUpdate", `backup.${name}`)
  const isAutomatic = of("autoBackupEnabled") === true
  return (
    <>
      <Answered of={backups} height={72}>
        {({ backups: latest, total }) => (
          <Facts
            rows={[
              [
                words.recovery.last,
                latest[0] === undefined ? (
                  <State kind="warning">{words.recovery.never}</State>
                ) : (
                  <State key="last" kind="good">
                    <Time at={latest[0].createdAt} />
                  </State>
                )
              ],
              [words.recovery.count, count(total ?? latest.length)],
              [
                words.recovery.automatic,
                isAutomatic ? (
                  `${words.recovery.every[String(of("frequency"))] ?? ""}, ${words.recovery.kept(Number(of("keepLast")))}`
                ) : (
                  <State key="automatic" kind="warning">
                    {words.recovery.off}
                  </State>
                )
              ]
            ]}
          />
        )}
      </Answered>
      <p class="quiet">{words.recovery.undo}</p>
      <div class="buttons">
        <button
          type="button"
          class="button main-action"
          disabled={isBusy.value}
          onClick={() => void run(() => backupsCreate(), words.recovery.made)}
        >
          {words.recovery.make}
        </button>
        <a class="button" href={placeOf("system/backups")}>
          {words.recovery.list}
        </a>
      </div>
    </>
  )
}

const Card = ({ children, title }: { readonly title: string; readonly children: ComponentChildren }) => (
  <section class="card stack" aria-label={title}>
    <h2>{title}</h2>
    {children}
  </section>
)

export const Overview = () => {
  const origins = useAnswer({ key: ["origins"], ask: (signal) => gatewaySettingsOrigins({ signal }) })
  const flags = useAnswer({ key: ["flags"], ask: (signal) => flagsList({ signal }) })
  return (
    <>
      <p class="quiet">{words.hint}</p>
      <div class="overview">
        <Card title={words.set.title}>
          <Answered of={origins} height={220}>
            {(set) => (
              <Answered of={flags} height={220}>
                {(switches) => <SetRows origins={set} flags={switches} />}
              </Answered>
            )}
          </Answered>
        </Card>
        <Card title={words.doors.title}>
          <Answered of={origins} height={220}>
            {(set) => (
              <Answered of={flags} height={220}>
                {(switches) => <Doors origins={set} flags={switches} />}
              </Answered>
            )}
          </Answered>
        </Card>
        <Card title={words.recovery.title}>
          <Answered of={origins} height={160}>
            {(set) => <Recovery origins={set} />}
          </Answered>
        </Card>
      </div>
    </>
  )
}
