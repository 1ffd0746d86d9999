using System;
using System.Collections.Generic;
using System.Collections.Immutable;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Reflection.Metadata;
using System.Reflection.Metadata.Ecma335;
using System.Reflection.PortableExecutable;
using System.Text;

// Prints each row of portable PDBs as System.Reflection.Metadata reads it.
//
//   PdbRows OUTPUT FILE...
//   PdbRows OUTPUT -lines ASSEMBLY...
//
// A file is a PDB, or an assembly, whose debug directory is printed, and the PDB that it embeds. `-lines` prints
// the line of each IL offset where it changes, as the runtime's own stack traces find it.
internal static class PdbRows
{
    private static TextWriter output;

    private static void Main(string[] arguments)
    {
        using (output = new StreamWriter(arguments[0], false, new UTF8Encoding(false)))
        {
            output.NewLine = "\n";
            bool isLines = arguments[1] == "-lines";
            string[] paths = arguments.Skip(isLines ? 2 : 1).ToArray();
            foreach (string path in paths)
            {
                output.WriteLine("file " + path);
                if (isLines)
                {
                    Lines(path);
                }
                else
                {
                    File(System.IO.File.ReadAllBytes(path));
                }
            }
            Console.WriteLine(paths.Length);
        }
    }

    // The source of each IL offset, as the runtime's own stack traces find it: by a method that is not public.
    private static void Lines(string path)
    {
        Type type = Type.GetType("System.Diagnostics.StackTraceSymbols, System.Diagnostics.StackTrace", true);
        object symbols = Activator.CreateInstance(type, true);
        MethodInfo find = type.GetMethod("GetSourceLineInfo", BindingFlags.Instance | BindingFlags.NonPublic);
        Assembly assembly = Assembly.LoadFile(path);
        using (var image = new PEReader(new MemoryStream(System.IO.File.ReadAllBytes(path))))
        {
            MetadataReader reader = image.GetMetadataReader();
            foreach (MethodDefinitionHandle handle in reader.MethodDefinitions)
            {
                MethodDefinition method = reader.GetMethodDefinition(handle);
                if (method.RelativeVirtualAddress == 0)
                {
                    continue;
                }
                int size = image.GetMethodBody(method.RelativeVirtualAddress).GetILReader().Length;
                string last = null;
                for (int offset = 0; offset <= size; offset++)
                {
                    object[] arguments = find.GetParameters().Select(parameter => Argument(parameter)).ToArray();
                    object Argument(ParameterInfo parameter)
                    {
                        switch (parameter.Name)
                        {
                            case "assembly": return assembly;
                            case "assemblyPath": return path;
                            case "methodToken": return MetadataTokens.GetToken(handle);
                            case "ilOffset": return offset;
                            case "isFileLayout": return false;
                            case "loadedPeSize": return 0;
                            case "inMemoryPdbSize": return 0;
                            case "loadedPeAddress": return IntPtr.Zero;
                            case "inMemoryPdbAddress": return IntPtr.Zero;
                            default: return null;
                        }
                    }
                    find.Invoke(symbols, arguments);
                    object[] found = arguments.Skip(arguments.Length - 3).ToArray();
                    string line = found[0] == null ? "nil" : Text((string)found[0]) + " " + found[1] + " " + found[2];
                    if (line != last)
                    {
                        Line(" at", Token(handle), offset, line);
                        last = line;
                    }
                }
            }
        }
    }

    private static void File(byte[] bytes)
    {
        if (bytes[0] == 'B')
        {
            Reader(MetadataReaderProvider.FromPortablePdbImage(ImmutableArray.Create(bytes)));
            return;
        }
        using (var image = new PEReader(new MemoryStream(bytes)))
        {
            foreach (DebugDirectoryEntry entry in image.ReadDebugDirectory())
            {
                Line("debug", (int)entry.Type, entry.MajorVersion, entry.MinorVersion, entry.Stamp, entry.DataSize);
                switch ((int)entry.Type)
                {
                    case 2:
                        CodeViewDebugDirectoryData data = image.ReadCodeViewDebugDirectoryData(entry);
                        Line("codeview", data.Guid, data.Age, Text(data.Path));
                        break;
                    case 17:
                        Reader(image.ReadEmbeddedPortablePdbDebugDirectoryData(entry));
                        break;
                    case 19:
                        PdbChecksumDebugDirectoryData sum = image.ReadPdbChecksumDebugDirectoryData(entry);
                        Line("checksum", sum.AlgorithmName, Hexadecimal(sum.Checksum.ToArray()));
                        break;
                }
            }
        }
    }

    private static void Reader(MetadataReaderProvider provider)
    {
        using (provider)
        {
            MetadataReader reader = provider.GetMetadataReader();
            DebugMetadataHeader header = reader.DebugMetadataHeader;
            Line("pdb", Hexadecimal(header.Id.ToArray()), Token(header.EntryPoint));
            foreach (DocumentHandle handle in reader.Documents)
            {
                Document document = reader.GetDocument(handle);
                Line("document", Token(handle), Guid(reader, document.HashAlgorithm), Blob(reader, document.Hash),
                    Guid(reader, document.Language), Text(reader.GetString(document.Name)));
            }
            foreach (MethodDebugInformationHandle handle in reader.MethodDebugInformation)
            {
                Method(reader, handle);
            }
            foreach (LocalScopeHandle handle in reader.LocalScopes)
            {
                Scope(reader, handle);
            }
            foreach (ImportScopeHandle handle in reader.ImportScopes)
            {
                Imports(reader, handle);
            }
            foreach (CustomDebugInformationHandle handle in reader.CustomDebugInformation)
            {
                CustomDebugInformation custom = reader.GetCustomDebugInformation(handle);
                byte[] value = reader.GetBlobBytes(custom.Value);
                Line("custom", Token(handle), Token(custom.Parent), Guid(reader, custom.Kind), value.Length, Hash(value));
            }
        }
    }

    private static void Method(MetadataReader reader, MethodDebugInformationHandle handle)
    {
        MethodDebugInformation method = reader.GetMethodDebugInformation(handle);
        Line("method", Token(handle.ToDefinitionHandle()), Token(method.Document), Token(method.LocalSignature),
            Token(method.GetStateMachineKickoffMethod()));
        foreach (SequencePoint point in method.GetSequencePoints())
        {
            if (point.IsHidden)
            {
                Line(" hidden", point.Offset, Token(point.Document));
            }
            else
            {
                Line(" point", point.Offset, Token(point.Document), point.StartLine, point.StartColumn, point.EndLine,
                    point.EndColumn);
            }
        }
        foreach (LocalScopeHandle scope in reader.GetLocalScopes(handle))
        {
            Line(" scope", Token(scope));
        }
    }

    private static void Scope(MetadataReader reader, LocalScopeHandle handle)
    {
        LocalScope scope = reader.GetLocalScope(handle);
        Line("scope", Token(handle), Token(scope.Method), Token(scope.ImportScope), scope.StartOffset, scope.Length);
        foreach (LocalVariableHandle one in scope.GetLocalVariables())
        {
            LocalVariable variable = reader.GetLocalVariable(one);
            Line(" variable", Token(one), (int)variable.Attributes, variable.Index, Text(reader.GetString(variable.Name)));
        }
        foreach (LocalConstantHandle one in scope.GetLocalConstants())
        {
            LocalConstant constant = reader.GetLocalConstant(one);
            Line(" constant", Token(one), Text(reader.GetString(constant.Name)), Blob(reader, constant.Signature),
                Constant(reader, reader.GetBlobReader(constant.Signature)));
        }
    }

    // The signature of a constant, by the format's table of types and values.
    private static string Constant(MetadataReader reader, BlobReader blob)
    {
        var modifiers = "";
        SignatureTypeCode code = blob.ReadSignatureTypeCode();
        while (code == SignatureTypeCode.RequiredModifier || code == SignatureTypeCode.OptionalModifier)
        {
            modifiers += (code == SignatureTypeCode.RequiredModifier ? "modreq " : "modopt ")
                + Token(blob.ReadTypeHandle()) + " ";
            code = blob.ReadSignatureTypeCode();
        }
        string value;
        switch (code)
        {
            case SignatureTypeCode.Boolean: value = blob.ReadByte() == 0 ? "bool false" : "bool true"; break;
            case SignatureTypeCode.Char: value = "char " + (int)blob.ReadChar(); break;
            case SignatureTypeCode.SByte: value = "sbyte " + blob.ReadSByte(); break;
            case SignatureTypeCode.Byte: value = "byte " + blob.ReadByte(); break;
            case SignatureTypeCode.Int16: value = "short " + blob.ReadInt16(); break;
            case SignatureTypeCode.UInt16: value = "ushort " + blob.ReadUInt16(); break;
            case SignatureTypeCode.Int32: value = "int " + blob.ReadInt32(); break;
            case SignatureTypeCode.UInt32: value = "uint " + blob.ReadUInt32(); break;
            case SignatureTypeCode.Int64: value = "long " + blob.ReadInt64(); break;
            case SignatureTypeCode.UInt64: value = "ulong " + blob.ReadUInt64(); break;
            case SignatureTypeCode.Single: value = "float 0x" + blob.ReadUInt32().ToString("x8"); break;
            case SignatureTypeCode.Double: value = "double 0x" + blob.ReadUInt64().ToString("x16"); break;
            case SignatureTypeCode.String:
                if (blob.RemainingBytes == 1 && blob.ReadByte() == 0xff)
                {
                    value = "string null";
                }
                else
                {
                    value = "string " + Text(blob.ReadUTF16(blob.RemainingBytes));
                }
                break;
            case SignatureTypeCode.Object: value = "object"; break;
            default:
                // A class or a value type.
                value = "type " + Token(blob.ReadTypeHandle()) + " "
                    + Hexadecimal(blob.ReadBytes(blob.RemainingBytes));
                break;
        }
        if (blob.RemainingBytes > 0 && code != SignatureTypeCode.Object)
        {
            value += " of " + Token(blob.ReadTypeHandle());
        }
        return modifiers + value;
    }

    private static void Imports(MetadataReader reader, ImportScopeHandle handle)
    {
        ImportScope scope = reader.GetImportScope(handle);
        Line("imports", Token(handle), Token(scope.Parent));
        foreach (ImportDefinition import in scope.GetImports())
        {
            bool isType = import.Kind == ImportDefinitionKind.ImportType
                || import.Kind == ImportDefinitionKind.AliasType;
            Line(" import", (int)import.Kind, Name(reader, import.Alias), Token(import.TargetAssembly),
                isType ? Token(import.TargetType) : Name(reader, import.TargetNamespace));
        }
    }

    private static void Line(params object[] words)
    {
        output.WriteLine(string.Join(" ", words.Select(Word)));
    }

    private static string Word(object word)
    {
        return Convert.ToString(word, System.Globalization.CultureInfo.InvariantCulture);
    }

    // A handle whose type says its table; nil has none.
    private static string Token(EntityHandle handle)
    {
        return handle.IsNil ? "nil" : MetadataTokens.GetToken(handle).ToString("x8");
    }

    private static string Guid(MetadataReader reader, GuidHandle handle)
    {
        return handle.IsNil ? "nil" : reader.GetGuid(handle).ToString();
    }

    private static string Blob(MetadataReader reader, BlobHandle handle)
    {
        return Hexadecimal(reader.GetBlobBytes(handle));
    }

    // The name in a blob.
    private static string Name(MetadataReader reader, BlobHandle handle)
    {
        return handle.IsNil ? "nil" : Text(Encoding.UTF8.GetString(reader.GetBlobBytes(handle)));
    }

    private static string Hexadecimal(byte[] bytes)
    {
        return "x" + string.Concat(bytes.Select(value => value.ToString("x2")));
    }

    // In quotes, each character that is not printable ASCII as its number.
    private static string Text(string text)
    {
        var result = new StringBuilder("\"");
        foreach (char unit in text)
        {
            if (unit > ' ' && unit < 127 && unit != '\\' && unit != '"')
            {
                result.Append(unit);
            }
            else
            {
                result.Append("\\u").Append(((int)unit).ToString("x4"));
            }
        }
        return result.Append('"').ToString();
    }

    // FNV-1a.
    private static string Hash(byte[] bytes)
    {
        ulong hash = 0xcbf29ce484222325;
        foreach (byte value in bytes)
        {
            hash = unchecked((hash ^ value) * 0x100000001b3);
        }
        return hash.ToString("x16");
    }
}
