/** The addresses of this machine. */
import { networkInterfaces } from "node:os"

/** Checks whether sockets of this machine can leave by the address now. Loopback counts as a whole. */
export const isOwnAddress = (address: string): boolean =>
  address.startsWith("127.") ||
  Object.values(networkInterfaces()).some((all) => all?.some((each) => each.address === address) === true)
