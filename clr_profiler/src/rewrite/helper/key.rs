//! The token of an assembly's public key: the end of its SHA-1 hash (ECMA-335 II.6.3).

/// The eight bytes of the token.
pub(super) fn token_of(public_key: &[u8]) -> [u8; 8] {
    let [_, _, _, high, low] = sha1(public_key);
    (u64::from(high) << 32 | u64::from(low)).to_le_bytes()
}

/// The hash as the numbers of FIPS 180-4. It names keys, and protects nothing here.
fn sha1(message: &[u8]) -> [u32; 5] {
    const BLOCK: usize = 64;
    let mut padded = message.to_vec();
    padded.push(0x80);
    while padded.len() % BLOCK != BLOCK - size_of::<u64>() {
        padded.push(0);
    }
    let bits = (message.len() as u64).wrapping_mul(8);
    padded.extend(bits.to_be_bytes());

    let mut hash = [
        0x6745_2301,
        0xefcd_ab89,
        0x98ba_dcfe,
        0x1032_5476,
        0xc3d2_e1f0_u32,
    ];
    for block in padded.chunks_exact(BLOCK) {
        let (numbers, _) = block.as_chunks::<4>();
        let numbers = numbers.iter().map(|bytes| u32::from_be_bytes(*bytes));
        let mut words: Vec<u32> = numbers.collect();
        while let [.., w16, _, w14, _, _, _, _, _, w8, _, _, _, _, w3, _, _] = *words
            && words.len() < 80
        {
            words.push((w3 ^ w8 ^ w14 ^ w16).rotate_left(1));
        }
        let [mut a, mut b, mut c, mut d, mut e] = hash;
        for (round, word) in words.into_iter().enumerate() {
            let (mixed, constant) = match round {
                0..20 => ((b & c) | (!b & d), 0x5a82_7999),
                20..40 => (b ^ c ^ d, 0x6ed9_eba1),
                40..60 => ((b & c) | (b & d) | (c & d), 0x8f1b_bcdc),
                _ => (b ^ c ^ d, 0xca62_c1d6_u32),
            };
            let next = a.rotate_left(5);
            let next = next.wrapping_add(mixed).wrapping_add(e);
            let next = next.wrapping_add(constant).wrapping_add(word);
            (e, d, c, b, a) = (d, c, b.rotate_left(30), a, next);
        }
        for (part, new) in hash.iter_mut().zip([a, b, c, d, e]) {
            *part = part.wrapping_add(new);
        }
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_messages_have_their_hashes() {
        assert_eq!(
            sha1(b"abc"),
            [
                0xa999_3e36,
                0x4706_816a,
                0xba3e_2571,
                0x7850_c26c,
                0x9cd0_d89d
            ]
        );
        let two_blocks = b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
        assert_eq!(
            sha1(two_blocks),
            [
                0x8498_3e44,
                0x1c3b_d26e,
                0xbaae_4aa1,
                0xf951_29e5,
                0xe546_70f1
            ]
        );
        assert_eq!(sha1(b"")[0], 0xda39_a3ee);
    }

    #[test]
    fn the_key_of_ecma_has_the_token_of_mscorlib() {
        let key = [0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0];
        let token = [0xb7, 0x7a, 0x5c, 0x56, 0x19, 0x34, 0xe0, 0x89];
        assert_eq!(token_of(&key), token);
    }
}
