// Broker listeners that demand a password or a client certificate, and an authorizer behind them, for tests of the system's
// access settings. The plain listener stays, for the tests' own set-up.
import type { DataDirectory } from '../data-directory.js';

export interface GuardedListeners {
  /** PEM: the broker's key and certificate in one file. */
  keyAndCertificateFile: string;
  /** PEM: the certificate authority of the broker's certificate and of clients' certificates. */
  authorityFile: string;
  /** Passwords by user, for PLAIN, SCRAM-SHA-256 and SCRAM-SHA-512. OAUTHBEARER accepts every unsigned token. */
  users: Readonly<Record<string, string>>;
  /** Users without restrictions; all others may do only what ACLs allow. As Kafka writes principals, without `User:`. */
  superUsers: readonly string[];
}

export interface GuardedAddresses {
  /** `host:port` where SASL over TLS is demanded. */
  sasl: string;
  /** `host:port` where a client's certificate is demanded. */
  certificate: string;
}

const security = 'org.apache.kafka.common.security';

export function guardListeners(
  properties: Record<string, string | number>,
  {
    listeners: { keyAndCertificateFile, authorityFile, users, superUsers },
    saslPort,
    certificatePort,
  }: { listeners: GuardedListeners; saslPort: number; certificatePort: number },
): void {
  const added = `SASL://127.0.0.1:${saslPort},CERTIFICATE://127.0.0.1:${certificatePort}`;
  const plainUsers = Object.entries(users).map(([user, password]) => `user_${user}="${password}"`);
  for (const [key, value] of Object.entries({
    listeners: added,
    'advertised.listeners': added,
    'listener.security.protocol.map': 'SASL:SASL_SSL,CERTIFICATE:SSL',
  }))
    properties[key] = `${properties[key] ?? ''},${value}`;
  Object.assign(properties, {
    'ssl.keystore.type': 'PEM',
    'ssl.keystore.location': keyAndCertificateFile,
    'ssl.truststore.type': 'PEM',
    'ssl.truststore.location': authorityFile,
    'listener.name.certificate.ssl.client.auth': 'required',
    'listener.name.sasl.sasl.enabled.mechanisms': 'PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER',
    'listener.name.sasl.plain.sasl.jaas.config': `${security}.plain.PlainLoginModule required ${plainUsers.join(' ')};`,
    'listener.name.sasl.scram-sha-256.sasl.jaas.config': `${security}.scram.ScramLoginModule required;`,
    'listener.name.sasl.scram-sha-512.sasl.jaas.config': `${security}.scram.ScramLoginModule required;`,
    'listener.name.sasl.oauthbearer.sasl.jaas.config': `${security}.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="broker";`,
    'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
    'allow.everyone.if.no.acl.found': 'false',
    // Every client of the plain listener is ANONYMOUS.
    'super.users': ['ANONYMOUS', ...superUsers].map((user) => `User:${user}`).join(';'),
  });
}

/** Arguments for `format` of Kafka's storage tool, which writes SCRAM users into the broker's data. */
export function scramUsers(listeners: GuardedListeners | undefined): string[] {
  return Object.entries(listeners?.users ?? {}).flatMap(([name, password]) =>
    ['SCRAM-SHA-256', 'SCRAM-SHA-512'].flatMap((mechanism) => [
      '--add-scram',
      `${mechanism}=[name=${name},password=${password}]`,
    ]),
  );
}

export async function guardedPorts(
  directory: DataDirectory,
): Promise<{ saslPort: number; certificatePort: number }> {
  const ports = await directory.ports(['kafka-sasl', 'kafka-certificate']);
  return { saslPort: ports['kafka-sasl'], certificatePort: ports['kafka-certificate'] };
}
