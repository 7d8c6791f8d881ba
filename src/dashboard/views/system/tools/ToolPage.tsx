/** One coding tool: what is known of it here, the command that sets it up, and its files on the gateway's machine. */
import { useSignal } from "@preact/signals"
import type { AnswerOf } from "../../../api/client.ts"
import { cliToolsSettings, cliToolsWriteSettings } from "../../../api/calls.generated.ts"
import { gatewayUrl } from "../../../api/client.ts"
import { useAnswer } from "../../../api/queries.ts"
import { Answered } from "../../../ui/Answered.tsx"
import { Copyable } from "../../../ui/copy/Copyable.tsx"
import { Failure } from "../../../ui/Failure.tsx"
import { State } from "../../../ui/State.tsx"
import { Time } from "../../../ui/Time.tsx"
import { visible } from "../../../ui/format.ts"
import { placeOf } from "../../../ui/address/places.ts"
import { words as shared } from "../../../words/parts.ts"
import { words } from "../../../words/system/tools.ts"
import { Entry } from "../../../ui/parts/Entry.tsx"
import { Facts } from "../../../ui/parts/Facts.tsx"
import { Head } from "../parts/Head.tsx"
import { OutLink } from "../../../ui/parts/OutLink.tsx"
import { useWork } from "../../../ui/useWork.ts"
import { type Tool, ToolState, type ToolStatus } from "./ToolState.tsx"

type Written = AnswerOf<typeof cliToolsWriteSettings>

/** The variables that most tools read; the key stands as a variable. */
const variables = (): string =>
  [
    `export OPENAI_BASE_URL='${new URL("v1", gatewayUrl).href}'`,
    'export OPENAI_API_KEY="$GATEWAY_API_KEY"',
    `export ANTHROPIC_BASE_URL='${gatewayUrl.replace(/\/$/, "")}'`,
    'export ANTHROPIC_AUTH_TOKEN="$GATEWAY_API_KEY"'
  ].join("\n")

const SetUp = ({ tool }: { readonly tool: Tool }) => {
  const model = useSignal("")
  const written = useSignal<Written | null>(null)
  const { isBusy, problem, run } = useWork(["tools"], true)
  const write = (): void =>
    void run(async () => {
      written.value = await cliToolsWriteSettings({
        path: { tool: tool.id },
        body: model.value === "" ? {} : { model: model.value }
      })
    })
  return (
    <section class="card stack">
      <h3>{words.here}</h3>
      <p class="quiet">{words.hereHint}</p>
      <Entry name={words.model} value={model} placeholder="auto" />
      <div class="buttons">
        <button type="button" class="button main-action" disabled={isBusy.value} onClick={write}>
          {words.setUp}
        </button>
      </div>
      {problem.value !== null && <Failure error={problem.value} />}
      {written.value !== null && (
        <div role="status" class="stack">
          <State kind="good">{words.written}</State>
          <code>{visible(written.value.path)}</code>
          {written.value.backupPath !== null && (
            <p class="quiet">
              {words.backup} <code>{visible(written.value.backupPath)}</code>
            </p>
          )}
          <p>{words.takeBack}</p>
          <Copyable text={`${tool.setupCommand ?? ""} --undo`} />
        </div>
      )}
    </section>
  )
}

const Files = ({ tool }: { readonly tool: Tool }) => {
  const settings = useAnswer({
    key: ["tools", "settings", tool.id],
    ask: (signal) => cliToolsSettings({ path: { tool: tool.id }, signal })
  })
  return (
    <section class="card stack">
      <h3>{words.files}</h3>
      <Answered of={settings} height={100}>
        {({ files }) =>
          files.length === 0 ? (
            <p class="quiet">{words.noFiles}</p>
          ) : (
            <ul class="stack">
              {files.map(({ exists, path, values }) => (
                <li key={path}>
                  <code>{visible(path)}</code>{" "}
                  <State kind={exists ? "good" : "quiet"}>{exists ? words.there : words.notThere}</State>
                  {Object.keys(values).length > 0 && (
                    <pre class="answer">{visible(JSON.stringify(values, null, 2))}</pre>
                  )}
                </li>
              ))}
            </ul>
          )
        }
      </Answered>
    </section>
  )
}

const Known = ({ status }: { readonly status: ToolStatus | undefined }) =>
  status === undefined ? null : (
    <Facts
      rows={[
        [words.version, visible(status.detection.version ?? "–")],
        [words.program, <code>{visible(status.detection.commandPath ?? status.detection.command ?? "–")}</code>],
        ...(status.detection.reason === undefined ? [] : [[words.why, visible(status.detection.reason)] as const]),
        ...(status.config.endpoint === undefined
          ? []
          : [[words.endpoint, <code>{visible(status.config.endpoint)}</code>] as const]),
        ...(status.config.lastConfiguredAt === undefined
          ? []
          : [[words.configured, <Time at={status.config.lastConfiguredAt} />] as const]),
        ...(status.error === undefined ? [] : [[words.error, visible(status.error)] as const])
      ]}
    />
  )

export const ToolPage = ({ status, tool }: { readonly tool: Tool; readonly status: ToolStatus | undefined }) => (
  <div class="stack operation">
    <p>
      <a href={placeOf("system/tools")}>{shared.back}</a>
    </p>
    <Head title={visible(tool.name)} hint={visible(tool.description)}>
      <ToolState status={status} />
    </Head>
    <Known status={status} />
    {tool.risks.map((risk) => (
      <State key={risk} kind="warning">
        {visible(risk)}
      </State>
    ))}
    <section class="stack">
      <h3>{words.snippet}</h3>
      <p class="quiet">{tool.setupCommand === null ? words.byHand : words.command}</p>
      <Copyable
        text={
          tool.setupCommand === null ? variables() : `${tool.setupCommand} --remote '${gatewayUrl.replace(/\/$/, "")}'`
        }
      />
      <p>
        <OutLink href={tool.docsUrl} name={words.docs} />
      </p>
    </section>
    {tool.setupCommand !== null && <SetUp tool={tool} />}
    {tool.setupCommand !== null && <Files tool={tool} />}
  </div>
)
