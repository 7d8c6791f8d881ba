/** Certificates of the public authorities, as Node has them: PEM texts. */
import { rootCertificates } from "node:tls"

export const publicAuthorities: ReadonlyArray<string> = rootCertificates
