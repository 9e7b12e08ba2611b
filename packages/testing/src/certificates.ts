// Certificates for tests of TLS, made with openssl in the test's folder.
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface Certificates {
  /** PEM files. */
  authority: string;
  serverKey: string;
  server: string;
  /** Key and certificate in one file, as Kafka and MongoDB require. */
  serverBoth: string;
  clientKey: string;
  client: string;
  clientBoth: string;
  /** An authority that has signed none of these certificates. */
  otherAuthority: string;
}

/**
 * A server's certificate for 127.0.0.1 and localhost, a client's with the given name, and the authority of both.
 * @throws Error where the program `openssl` is missing
 */
export async function makeCertificates(directory: string, clientName: string): Promise<Certificates> {
  const file = (name: string) => join(directory, `${name}.pem`);
  const key = (name: string) => [
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-keyout',
    file(name),
  ];
  const openssl = (...words: string[]) => run('openssl', words);
  for (const name of ['authority', 'other-authority'])
    await openssl(
      'req',
      '-x509',
      ...key(`${name}-key`),
      '-out',
      file(name),
      '-days',
      '2',
      '-subj',
      `/CN=${name}`,
    );
  const signed = async (name: string, extensions: string) => {
    const [request, ends] = [join(directory, `${name}.csr`), join(directory, `${name}.ext`)];
    await writeFile(ends, extensions);
    await openssl('req', '-new', ...key(`${name}-key`), '-out', request, '-subj', `/CN=${name}`);
    const by = ['-CA', file('authority'), '-CAkey', file('authority-key'), '-CAcreateserial'];
    await openssl('x509', '-req', '-in', request, ...by, '-out', file(name), '-days', '2', '-extfile', ends);
    const parts = await Promise.all([readFile(file(`${name}-key`)), readFile(file(name))]);
    await writeFile(file(`${name}-both`), Buffer.concat(parts), { mode: 0o600 });
  };
  await signed('server', 'subjectAltName=IP:127.0.0.1,DNS:localhost\nextendedKeyUsage=serverAuth\n');
  await signed(clientName, 'extendedKeyUsage=clientAuth\n');
  return {
    authority: file('authority'),
    serverKey: file('server-key'),
    server: file('server'),
    serverBoth: file('server-both'),
    clientKey: file(`${clientName}-key`),
    client: file(clientName),
    clientBoth: file(`${clientName}-both`),
    otherAuthority: file('other-authority'),
  };
}
