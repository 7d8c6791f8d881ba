/** The tunnels of an account: that of a tunnel service by its authtoken, that of a server of one's own by SSH. */
import { useSignal } from "@preact/signals"
import { tunnelsSetSsh, tunnelsSetToken } from "../../../api/calls.generated.ts"
import { words } from "../../../words/system/tunnels.ts"
import { Entry } from "../../../ui/parts/Entry.tsx"
import { type Tunnel, TunnelCard } from "./Card.tsx"

export const TokenTunnel = ({ tunnel }: { readonly tunnel: Tunnel }) => {
  const allowKeyless = useSignal(false)
  const authToken = useSignal("")
  const open = async (): Promise<void> => {
    await tunnelsSetToken({
      body: {
        action: "enable",
        allowKeyless: allowKeyless.value,
        ...(authToken.value === "" ? {} : { authToken: authToken.value })
      }
    })
    authToken.value = ""
  }
  return (
    <TunnelCard
      tunnel={tunnel}
      allowKeyless={allowKeyless}
      open={open}
      close={() => tunnelsSetToken({ body: { action: "disable" } })}
    >
      <Entry name={words.authToken} hint={words.authTokenHint} type="password" value={authToken} />
    </TunnelCard>
  )
}

export const SshTunnel = ({ tunnel }: { readonly tunnel: Tunnel }) => {
  const allowKeyless = useSignal(false)
  const destination = useSignal("")
  const remotePort = useSignal("")
  const hostKey = useSignal("")
  const open = () =>
    tunnelsSetSsh({
      body: {
        action: "enable",
        destination: destination.value,
        allowKeyless: allowKeyless.value,
        ...(remotePort.value === "" ? {} : { remotePort: Number(remotePort.value) }),
        ...(hostKey.value === "" ? {} : { hostKey: hostKey.value })
      }
    })
  return (
    <TunnelCard
      tunnel={tunnel}
      allowKeyless={allowKeyless}
      open={open}
      close={() => tunnelsSetSsh({ body: { action: "disable" } })}
    >
      <Entry name={words.destination} hint={words.destinationHint} value={destination} placeholder="me@example.com" />
      <Entry name={words.remotePort} hint={words.remotePortHint} type="number" value={remotePort} />
      <Entry name={words.hostKey} hint={words.hostKeyHint} value={hostKey} placeholder="SHA256:…" />
    </TunnelCard>
  )
}
