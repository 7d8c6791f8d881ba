/** Answers from where the gateway can be reached: its tunnels, each opened and closed after its name was typed. */
import type { AnswerOf } from "../../../api/client.ts"
import { tunnelsList } from "../../../api/calls.generated.ts"
import { useAnswer } from "../../../api/queries.ts"
import { Answered } from "../../../ui/Answered.tsx"
import { CopyAs } from "../../../ui/copy/CopyAs.tsx"
import { words } from "../../../words/system/tunnels.ts"
import { Head } from "../parts/Head.tsx"
import { MeshTunnel } from "./MeshTunnel.tsx"
import { SshTunnel, TokenTunnel } from "./Accounts.tsx"
import { QuickTunnel } from "./QuickTunnel.tsx"

/** A tunnel that opens is asked for its state so often. */
const everyMs = 5_000

type TunnelList = AnswerOf<typeof tunnelsList>

const isMoving = ({ tunnels }: TunnelList): boolean => tunnels.some(({ phase }) => phase === "starting")

const of = ({ tunnels }: TunnelList, backend: string) => tunnels.find((each) => each.backend === backend)

const Cards = ({ list }: { readonly list: TunnelList }) => {
  const [quick, token, mesh, ssh] = ["quick", "token", "mesh", "ssh"].map((backend) => of(list, backend))
  return (
    <div class="cards">
      {quick !== undefined && <QuickTunnel tunnel={quick} />}
      {token !== undefined && <TokenTunnel tunnel={token} />}
      {mesh !== undefined && <MeshTunnel />}
      {ssh !== undefined && <SshTunnel tunnel={ssh} />}
    </div>
  )
}

export const Tunnels = () => {
  const list = useAnswer({ key: ["tunnels"], ask: (signal) => tunnelsList({ signal }), everyMs })
  const isOpening = list.value.data !== undefined && isMoving(list.value.data)
  return (
    <div class="stack" aria-busy={isOpening}>
      <Head title={words.title} hint={words.hint} />
      <CopyAs call={tunnelsList} />
      <Answered of={list} height={480}>
        {(answer) => <Cards list={answer} />}
      </Answered>
    </div>
  )
}
