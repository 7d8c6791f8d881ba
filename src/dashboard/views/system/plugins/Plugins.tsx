/** Answers which plugins there are, what they may do and what became of their calls; one of them is behind its name. */
import { useRoute } from "preact-iso"
import type { AnswerOf } from "../../../api/client.ts"
import { pluginsInstallOffer, pluginsList, pluginsMarketplace, pluginsScan } from "../../../api/calls.generated.ts"
import { useAnswer } from "../../../api/queries.ts"
import { Answered } from "../../../ui/Answered.tsx"
import { State } from "../../../ui/State.tsx"
import { count, duration, visible } from "../../../ui/format.ts"
import { placeOf } from "../../../ui/address/places.ts"
import { toast } from "../../../ui/toasts.tsx"
import { words } from "../../../words/system/plugins.ts"
import { Empty } from "../../../ui/parts/Empty.tsx"
import { Head } from "../parts/Head.tsx"
import { Table } from "../../../ui/parts/Table.tsx"
import { useWork } from "../../../ui/useWork.ts"
import { permissionText } from "./permissions.ts"
import { PluginPage } from "./PluginPage.tsx"
import { PluginState } from "./PluginState.tsx"

type List = AnswerOf<typeof pluginsList>
type Offer = AnswerOf<typeof pluginsMarketplace>["plugins"][number]

const Rows = ({ plugins }: { readonly plugins: List["plugins"] }) => (
  <Table label={words.list} columns={words.columns} numbers={[2, 3, 4, 5, 6]}>
    {plugins.map((plugin) => (
      <tr key={plugin.name}>
        <td class="wide-cell">
          <a href={placeOf(`system/plugins/${plugin.name}`)}>{visible(plugin.name)}</a>{" "}
          <span class="quiet">{visible(plugin.version)}</span>
          <p class="quiet">{visible(plugin.description ?? "")}</p>
        </td>
        <td>
          <PluginState status={plugin.status} />
        </td>
        <td class="number">{count(plugin.stats.calls)}</td>
        <td class="number">{count(plugin.stats.modified)}</td>
        <td class="number">{count(plugin.stats.blocked)}</td>
        <td class="number">{count(plugin.stats.failed)}</td>
        <td class="number">{plugin.stats.p99Ms === null ? "–" : duration(plugin.stats.p99Ms)}</td>
      </tr>
    ))}
  </Table>
)

const OfferCard = ({ offer: { description, name, permissions, url, version } }: { readonly offer: Offer }) => {
  const { isBusy, run } = useWork(["plugins", "plugin-offers"])
  return (
    <li class="card stack">
      <div class="card-head">
        <strong>
          {visible(name)} <span class="quiet">{visible(version)}</span>
        </strong>
        <button
          type="button"
          class="button"
          aria-label={`${words.install}: ${visible(name)}`}
          disabled={isBusy.value}
          onClick={() => void run(() => pluginsInstallOffer({ path: { name } }), words.installed(visible(name)))}
        >
          {words.install}
        </button>
      </div>
      <p>{visible(description)}</p>
      <p class="quiet">{permissionText(permissions, null)}</p>
      {url !== null && <p class="quiet">{visible(url)}</p>}
    </li>
  )
}

const Offers = () => {
  const offers = useAnswer({ key: ["plugin-offers"], ask: (signal) => pluginsMarketplace({ signal }) })
  return (
    <section class="stack" aria-label={words.offers}>
      <h3>{words.offers}</h3>
      <Answered of={offers} height={160}>
        {({ plugins, remoteError }) => {
          const those = plugins.filter(({ installed }) => !installed)
          return (
            <>
              {remoteError !== null && <State kind="warning">{visible(remoteError)}</State>}
              {those.length === 0 ? (
                <p class="quiet">{words.noOffer}</p>
              ) : (
                <ul class="cards">
                  {those.map((offer) => (
                    <OfferCard key={offer.name} offer={offer} />
                  ))}
                </ul>
              )}
            </>
          )
        }}
      </Answered>
    </section>
  )
}

const All = () => {
  const list = useAnswer({ key: ["plugins"], ask: (signal) => pluginsList({ signal }) })
  const { isBusy, run } = useWork(["plugins", "plugin-offers"])
  const scan = (): void =>
    void run(async () => {
      const { found } = await pluginsScan()
      toast("good", words.scanned(found.length))
      for (const { errors, name, status } of found) {
        const why = status === "changed" ? words.changedFiles : errors.map(({ message }) => message).join("; ")
        if (status !== "installed") toast("warning", visible(words.scanProblem(name, why)))
      }
    })
  return (
    <div class="stack">
      <Head title={words.title} hint={words.hint}>
        <button type="button" class="button" disabled={isBusy.value} onClick={scan}>
          {words.scan}
        </button>
      </Head>
      <Answered of={list} height={200}>
        {({ plugins }) =>
          plugins.length === 0 ? (
            <Empty text={words.none} />
          ) : (
            <div class="card">
              <Rows plugins={plugins} />
            </div>
          )
        }
      </Answered>
      <Offers />
    </div>
  )
}

export const Plugins = () => {
  const { part } = useRoute().params
  return part === undefined ? <All /> : <PluginPage key={part} name={part} />
}
